// SPDX-License-Identifier: Apache-2.0
//
// Runs a program's text on the device: parses, validates, lowers to the subject's format with the
// device's facts, compiles and dispatches through the plugin's tables.
#pragma once

#include <optional>

#include "conformance/abi/harness.hpp"
#include "lower/lower.hpp"

namespace harness {

// The facts that lowering uses.
wye::lower::TargetFacts target_facts(const Plugin& plugin);

// Throws with the first diagnostic if the text is not a valid program.
wye::ir::Program valid_program(const std::string& text);

struct Launch {
    std::vector<std::uint64_t> params;                   // bits, by index
    std::vector<std::vector<std::byte>> buffers;         // in binding order, without `shared`
    std::optional<std::array<std::uint32_t, 3>> groups;  // else by the program's grid clause
    bool folded = false;  // run the logical grid as one row of workgroups, with surplus ones
    // As on a device that has nothing of 64 bits; in SPIR-V also without exact division and roots
    // of f32.
    bool f32_alone = false;
};

struct Outcome {
    std::vector<std::vector<std::byte>> buffers;  // after the launch
    std::uint32_t trap_code = 0, trap_count = 0;
    std::string source;  // the lowered code if it is text, for messages
};

// Throws if something is refused; the message has the source.
Outcome run_lowered(Plugin& plugin, Device& device, const wye::ir::Program& program,
                    const Launch& launch);

}  // namespace harness
