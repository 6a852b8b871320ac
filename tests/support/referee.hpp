// SPDX-License-Identifier: Apache-2.0
//
// Runs a case on a runner and on the oracle, and describes the difference.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "support/case.hpp"
#include "support/device.hpp"

namespace support {

struct Finding {
    enum class Kind {
        Equal,
        Bytes,    // outputs differ
        Trap,     // another trap code or count, or outputs in spite of a trap
        Error,    // the device returned an error
        Ended,    // the process ended, by a fault of the driver
        Useless,  // refused, or without one correct result: races, or too many steps
    };
    Kind kind = Kind::Equal;
    wye::Code code = wye::Code::INTERNAL;  // of Kind::Error
    std::string text;                      // one line; empty: equal
    [[nodiscard]] bool differs() const { return kind != Kind::Equal && kind != Kind::Useless; }
    // Whether the other finding is the same kind of fault, perhaps elsewhere.
    [[nodiscard]] bool like(const Finding& other) const {
        return kind == other.kind && (kind != Kind::Error || code == other.code);
    }
};

// Runs a case on a device, or on a test's substitute for one.
using Runner = std::function<wye::Result<Ending>(const wye::Program&, const Case&)>;

[[nodiscard]] Runner on(const Device& device);

// The checks of the oracle. Generated programs end and have one result; programs that the shrinker
// changed may not.
struct Care {
    std::uint64_t steps = std::uint64_t{1} << 36;  // limit above which a program counts as endless
    bool races = false;  // check for races, and atomics whose order is visible
};
inline constexpr Care kTrusted{};
inline constexpr Care kChanged{std::uint64_t{1} << 23, true};

[[nodiscard]] Finding judge(const wye::Context& context, const Runner& runner, const Case& what,
                            const Care& care);

}  // namespace support
