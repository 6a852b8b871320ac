// SPDX-License-Identifier: Apache-2.0
//
// The random case of a seed, within what a device says it can do. Small programs and larger ones,
// those with grid barriers, math functions and resident buffers take turns by the seed.
#pragma once

#include <cstdint>

#include "differential/case.hpp"
#include "support/device.hpp"
#include "support/random_program.hpp"

namespace differential {

[[nodiscard]] support::RandomProgramOptions options_for(const conformance::Device& device);

[[nodiscard]] Case random_case(std::uint64_t seed, const support::RandomProgramOptions& device,
                               bool traps);

}  // namespace differential
