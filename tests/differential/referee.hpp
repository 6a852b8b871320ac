// SPDX-License-Identifier: Apache-2.0
//
// Runs one case on something and on the oracle, and says how they differ.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "differential/case.hpp"
#include "support/device.hpp"

namespace differential {

struct Finding {
    enum class Kind {
        Equal,
        Bytes,    // outputs differ
        Trap,     // another trap code or count, or outputs although it trapped
        Error,    // the device failed
        Ended,    // the process did, by a fault of its driver
        Useless,  // refused, or without one right result: races, or not ended in the step limit
    };
    Kind kind = Kind::Equal;
    wye::Code code = wye::Code::INTERNAL;  // Error
    std::string text;                      // one line; empty: equal
    [[nodiscard]] bool differs() const { return kind != Kind::Equal && kind != Kind::Useless; }
    // The same trouble, perhaps elsewhere.
    [[nodiscard]] bool like(const Finding& other) const {
        return kind == other.kind && (kind != Kind::Error || code == other.code);
    }
};

// What is judged: a device, or something that a test invents.
using Runner = std::function<wye::Result<conformance::Ending>(const wye::Program&, const Case&)>;

[[nodiscard]] Runner on(const conformance::Device& device);

// How much the oracle looks at. Programs that the generator wrote end and have one result; changed
// ones may not.
struct Care {
    std::uint64_t steps = std::uint64_t{1} << 36;  // before a program counts as not ending
    bool races = false;                            // look for races, and atomics whose order shows
};
inline constexpr Care kTrusted{};
inline constexpr Care kChanged{std::uint64_t{1} << 23, true};

[[nodiscard]] Finding judge(const wye::Context& context, const Runner& runner, const Case& what,
                            const Care& care);

}  // namespace differential
