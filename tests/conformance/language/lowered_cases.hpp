// SPDX-License-Identifier: Apache-2.0
//
// Lowered programs on a device, against plain C++ and against the scalar oracle: test cases for a
// TEST_CASE of each plugin's own.
#pragma once

#include "conformance/language/lowered.hpp"
#include "support/random_program.hpp"

namespace harness::cases {

// The example programs, against plain C++.
void examples_are_right(Plugin& plugin, Device& device);

// One launch, against the oracle: trap words and the buffers for which `outputs` says so (empty:
// all). `what` is for messages.
void is_what_the_oracle_gives(Plugin& plugin, Device& device, const wye::ir::Program& program,
                              const Launch& launch, const std::vector<bool>& outputs,
                              const std::string& what);

// Loops whose start, end and step are read from memory, at the edges of u32 and i32.
void open_loops_are_right(Plugin& plugin, Device& device);

// Random programs; `options` chooses their shape by seed. WYE_RANDOM_PROGRAMS and WYE_RANDOM_SEED
// widen the search by hand.
void random_programs_are_right(Plugin& plugin, Device& device, std::uint64_t first_seed,
                               support::RandomProgramOptions (*options)(std::uint64_t seed,
                                                                        const Plugin& plugin));

}  // namespace harness::cases
