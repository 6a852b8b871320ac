// SPDX-License-Identifier: Apache-2.0
//
// Preconditions: the conditions on a launch under which range checks can be left out. For each
// access that the text alone does not prove in range, the interval of its index must lie inside the
// array. The interval is computed from parameters, lengths and grid by the interval arithmetic of
// the analysis (a result that may wrap is "anything"). For loops with barriers, end + step must be
// below the type's maximum. Pure values; thread-safe when const.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lower/analysis/interval.hpp"
#include "wye/sdk/program.hpp"

namespace wye::lower {

// One step of computing an interval. Operands come before their users.
struct Bound {
    enum class From : std::uint8_t {
        Fixed,
        Param,     // parameter `index`
        Length,    // length of buffer `index`, clamped to 2^32 - 1
        Length64,  // length of buffer `index`, exact
        Groups,    // workgroups on axis `index`
        GroupId,
        GlobalId,
        Unary,    // op on a
        Binary,   // op on a and b
        Convert,  // a, converted from kind `source`
        Join,     // the union of a and b
        Below,    // a, limited to values below b (`strict`) or at most b
        Above,    // a, limited to values above b or at least b
        Apart     // a, limited to values other than b
    };
    From from = From::Fixed;
    ir::Op op = ir::Op::None;
    ir::Kind kind = ir::Kind::None;
    ir::Kind source = ir::Kind::None;
    bool strict = false;
    std::uint32_t index = 0;
    std::uint32_t a = 0, b = 0;
    Interval fixed;
    friend bool operator==(const Bound&, const Bound&) = default;
};

// The values of an admitted launch. Borrows the caller's arrays.
struct LaunchFacts {
    std::span<const std::uint64_t> params;   // the bits of each parameter
    std::span<const std::uint64_t> lengths;  // the number of elements of each buffer
    std::array<std::uint32_t, 3> groups;
    std::array<std::uint32_t, 3> workgroup;
};

struct Preconditions {
    static constexpr std::size_t kMaxBounds = 256;

    struct Access {  // requires 0 <= index < length for all values of both steps
        std::uint32_t index = 0;
        std::uint32_t length = 0;
        friend bool operator==(const Access&, const Access&) = default;
    };
    std::vector<Bound> bounds;  // at most kMaxBounds
    std::vector<Access> accesses;

    [[nodiscard]] bool empty() const { return accesses.empty(); }
    [[nodiscard]] bool read_params() const;
    [[nodiscard]] bool hold(const LaunchFacts& launch) const;
    // Returns the preconditions as text with the program's names, one per line, such as
    // "(global_id.y * width) + global_id.x < len(from)".
    [[nodiscard]] std::string text(const ir::Program& program) const;
};

// Returns the interval of one step, given the intervals of its operands.
[[nodiscard]] Interval evaluate(const Bound& bound, const LaunchFacts& launch, Interval a,
                                Interval b);

}  // namespace wye::lower
