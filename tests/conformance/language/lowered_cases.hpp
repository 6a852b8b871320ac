// SPDX-License-Identifier: Apache-2.0
//
// Lowered programs on a device, compared with plain C++ and with the scalar oracle. Called from a
// TEST_CASE of each plugin.
#pragma once

#include "conformance/language/lowered.hpp"
#include "support/random_program.hpp"

namespace harness::cases {

// Compares the example programs with plain C++.
void examples_are_right(Plugin& plugin, Device& device);

// Compares one launch with the oracle: trap words, and the buffers for which `outputs` is true
// (empty: all). `what` is for messages.
void is_what_the_oracle_gives(Plugin& plugin, Device& device, const wye::ir::Program& program,
                              const Launch& launch, const std::vector<bool>& outputs,
                              const std::string& what);

// Loops whose start, end and step are read from memory, at the edges of u32 and i32.
void open_loops_are_right(Plugin& plugin, Device& device);
// Division and roots of f32 in the forms for devices without f64.
void roots_are_right(Plugin& plugin, Device& device);
// Functions of f32 have the same results as on a device that has nothing of 64 bits.
void functions_need_nothing_wide(Plugin& plugin, Device& device);

// Random programs: those of `first_seed`, `first_seed + step` and so on, 24 seeds further at most.
// The grids of seeds that are multiples of three are folded. `options` chooses their shape by seed.
// WYE_RANDOM_PROGRAMS and WYE_RANDOM_SEED extend the search.
void random_programs_are_right(Plugin& plugin, Device& device, std::uint64_t first_seed,
                               std::uint64_t step,
                               support::RandomProgramOptions (*options)(std::uint64_t seed,
                                                                        const Plugin& plugin));

}  // namespace harness::cases
