// SPDX-License-Identifier: Apache-2.0
//
// Intervals of integer values, and arithmetic on them. Pure values.
#pragma once

#include <cstdint>
#include <limits>

#include "wye/sdk/program.hpp"

namespace wye::lower {

// A range of integers that includes both ends. For u64, kMost as `high` means "no upper bound".
struct Interval {
    static constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
    static constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    std::int64_t low = kLeast;
    std::int64_t high = kMost;

    [[nodiscard]] bool contains(Interval other) const {
        return low <= other.low && other.high <= high;
    }
    [[nodiscard]] bool exact() const { return low == high && high != kMost; }
    friend bool operator==(Interval, Interval) = default;
};

[[nodiscard]] Interval whole(ir::Kind kind);  // every value of the kind; BOOL: 0 and 1
[[nodiscard]] Interval join(Interval a, Interval b);
// Returns the intersection of `a` and `b`. If the intersection is empty, as in unreachable code,
// returns `a`.
[[nodiscard]] Interval meet(Interval a, Interval b);

// Return an interval that contains every result of an operation of `kind` on scalars, or
// `whole(kind)` if no smaller interval is known.
[[nodiscard]] Interval unary(ir::Op op, ir::Kind kind, Interval a);
[[nodiscard]] Interval binary(ir::Op op, ir::Kind kind, Interval a, Interval b);
[[nodiscard]] Interval converted(ir::Kind from, ir::Kind to, Interval a);
[[nodiscard]] Interval literal_interval(ir::Kind kind, std::uint64_t bits);

}  // namespace wye::lower
