// SPDX-License-Identifier: Apache-2.0
//
// Runs a case on a device and on the oracle, and describes the difference.
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
        Trap,     // another trap code or count, or outputs although the program traps
        Error,    // the device returned an error
        Ended,    // a fault of the driver ended the process
        Useless,  // no test: refused, or no single right result (races), or too long
    };
    Kind kind = Kind::Equal;
    wye::Code code = wye::Code::INTERNAL;  // of Kind::Error
    std::string text;                      // one line; empty: the results are equal
    [[nodiscard]] bool differs() const { return kind != Kind::Equal && kind != Kind::Useless; }
    // Whether the other finding is of the same kind. The texts may differ.
    [[nodiscard]] bool like(const Finding& other) const {
        return kind == other.kind && (kind != Kind::Error || code == other.code);
    }
};

// A function that runs a case on a device, or on a test's substitute for a device.
using Runner = std::function<wye::Result<Ending>(const wye::Program&, const Case&)>;

[[nodiscard]] Runner on(const Device& device);

// How careful the oracle is. Generated programs always end and have one right result. A program
// that the shrinker has changed may run for ever, or have races.
struct Care {
    std::uint64_t steps = std::uint64_t{1} << 36;  // more steps count as endless
    bool races = false;  // check for races, and for atomics whose order is visible
};
inline constexpr Care kTrusted{};
inline constexpr Care kChanged{std::uint64_t{1} << 23, true};

[[nodiscard]] Finding judge(const wye::Context& context, const Runner& runner, const Case& what,
                            const Care& care);

}  // namespace support
