// SPDX-License-Identifier: Apache-2.0
//
// Runs the text of a program on the device: parses and validates it, lowers it to the subject's
// format by the device's facts, compiles it, and dispatches it through the plugin's tables.
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
    std::vector<std::uint64_t> params;                   // bits of each parameter, by index
    std::vector<std::vector<std::byte>> buffers;         // in binding order, without `shared`
    std::optional<std::array<std::uint32_t, 3>> groups;  // unset: from the program's grid clause
    bool folded = false;  // run the logical grid as one row of workgroups, some of them surplus
    // Lower as for a device without 64-bit types; in SPIR-V also as for a device whose division and
    // square root of f32 are not exact.
    bool f32_alone = false;
};

struct Outcome {
    std::vector<std::vector<std::byte>> buffers;  // after the launch
    std::uint32_t trap_code = 0, trap_count = 0;
    std::string source;  // the lowered code for messages, if it is text
};

// Throws if a step refuses the program; the message then has the source.
Outcome run_lowered(Plugin& plugin, Device& device, const wye::ir::Program& program,
                    const Launch& launch);

}  // namespace harness
