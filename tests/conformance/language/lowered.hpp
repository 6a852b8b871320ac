// SPDX-License-Identifier: Apache-2.0
//
// From a program's text to bytes on the device: parse, validate, lower to the subject's format with
// the device's facts, compile and dispatch through the plugin's tables.
#pragma once

#include <optional>

#include "conformance/abi/harness.hpp"
#include "lower/lower.hpp"

namespace harness {

// What the host reads from the facts before it lowers.
wye::lower::TargetFacts target_facts(const Plugin& plugin);

// Throws with the first diagnostic when the text is not a valid program.
wye::ir::Program valid_program(const std::string& text);

struct Launch {
    std::vector<std::uint64_t> params;                   // bits, by index
    std::vector<std::vector<std::byte>> buffers;         // in binding order, `shared` left out
    std::optional<std::array<std::uint32_t, 3>> groups;  // else the program's grid clause
    bool folded = false;  // run the logical grid as one row of workgroups, with surplus ones
};

struct Outcome {
    std::vector<std::vector<std::byte>> buffers;  // after the launch
    std::uint32_t trap_code = 0, trap_count = 0;
    std::string source;  // the lowered code where it is text, for messages
};

// Throws when something is refused; the message has the source.
Outcome run_lowered(Plugin& plugin, Device& device, const wye::ir::Program& program,
                    const Launch& launch);

}  // namespace harness
