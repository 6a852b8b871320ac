// SPDX-License-Identifier: Apache-2.0
//
// Cases that run lowered programs on a device, and compare the results with plain C++ and with the
// scalar oracle. The tests of each plugin call these cases from a TEST_CASE.
#pragma once

#include "conformance/language/lowered.hpp"
#include "support/random_program.hpp"

namespace harness::cases {

// Compares the example programs with plain C++.
void examples_are_right(Plugin& plugin, Device& device);

// Compares one launch with the oracle: the trap words, and the buffers for which `outputs` is true
// (an empty `outputs`: all buffers). `what` is for messages.
void is_what_the_oracle_gives(Plugin& plugin, Device& device, const wye::ir::Program& program,
                              const Launch& launch, const std::vector<bool>& outputs,
                              const std::string& what);

// Loops whose start, end and step are read from memory, with values at the limits of u32 and i32.
void open_loops_are_right(Plugin& plugin, Device& device);
// Division and square root of f32, lowered as for devices with f64 and as for devices without f64.
void roots_are_right(Plugin& plugin, Device& device);
// Math functions of f32 give the same results when lowered as for a device without 64-bit types.
void functions_need_nothing_wide(Plugin& plugin, Device& device);

// Random programs of the seeds `first_seed`, `first_seed + step` and so on, below `first_seed +
// 24`. A seed that is a multiple of three has a folded grid. `options` gives the options of a seed.
// The variables WYE_RANDOM_SEED and WYE_RANDOM_PROGRAMS replace `first_seed` and 24.
void random_programs_are_right(Plugin& plugin, Device& device, std::uint64_t first_seed,
                               std::uint64_t step,
                               support::RandomProgramOptions (*options)(std::uint64_t seed,
                                                                        const Plugin& plugin));

}  // namespace harness::cases
