// SPDX-License-Identifier: Apache-2.0
//
// The random case of a seed, within a device's capabilities. The seed chooses between small and
// larger programs, those with grid barriers, math functions and resident buffers.
#pragma once

#include <cstdint>

#include "support/case.hpp"
#include "support/device.hpp"
#include "support/random_program.hpp"

namespace differential {

[[nodiscard]] support::RandomProgramOptions options_for(const conformance::Device& device);

[[nodiscard]] Case random_case(std::uint64_t seed, const support::RandomProgramOptions& device,
                               bool traps);

}  // namespace differential
