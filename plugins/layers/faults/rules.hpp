// SPDX-License-Identifier: Apache-2.0
//
// Rules of the layer `faults`: which call of which slot fails, hangs or loses its device.
//
//     buffer_create:3:OUT_OF_MEMORY,submit:10:DEVICE_LOST,wait:2+:hang(50ms)
//
// A rule is SLOT:N:ACTION, for the Nth call of the slot, or SLOT:N+:ACTION, for that call and all
// later ones. Calls are counted from 1; the calls of all devices of a plugin count together. An
// action is the name of a status code, or hang(TIME) with a time in ns, us, ms or s. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wye/sdk/result.hpp"

namespace wye::layers::faults {

struct Rule {
    std::string text;  // the rule's text, as it was given
    std::string slot;
    std::uint64_t first = 1;
    std::uint64_t last = 1;             // UINT64_MAX stands for all later calls
    Code code = Code::OK;               // OK stands for a hang
    std::chrono::nanoseconds pause{0};  // the time of a hang

    [[nodiscard]] bool is_for(std::uint64_t call) const { return call >= first && call <= last; }
};

// Parses rules. Error: INVALID_ARGUMENT, which names the wrong part and the nearest known word.
[[nodiscard]] Result<std::vector<Rule>> parse_rules(std::string_view text);

}  // namespace wye::layers::faults
