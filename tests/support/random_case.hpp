// SPDX-License-Identifier: Apache-2.0
//
// Makes a random case from a seed, within a device's capabilities. The seed also decides the size
// of the program, and whether there are grid barriers, math functions and resident buffers.
#pragma once

#include <cstdint>

#include "support/case.hpp"
#include "support/device.hpp"
#include "support/random_program.hpp"

namespace support {

[[nodiscard]] RandomProgramOptions options_for(const Device& device);

[[nodiscard]] Case random_case(std::uint64_t seed, const RandomProgramOptions& device, bool traps);

}  // namespace support
