// SPDX-License-Identifier: Apache-2.0
//
// Reads the trap words of a launch that has ended. Pure. For the words that a check of a grid
// writes, see exec/device/grid_check.hpp.
#pragma once

#include <cstdint>
#include <string>

#include "registry/open/device.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

struct Trap {
    std::uint32_t code = 0;   // the largest trap code
    std::uint32_t count = 0;  // number of traps; 0: none
};

enum class Ran : std::uint8_t { Program, Graph };

// Errors: TRAPPED; LIMIT_EXCEEDED if the driver ended a loop, or a grid in a buffer had too many
// workgroups. Sets `out` only for TRAPPED. `name`: the program's name, or the graph's label, which
// may be empty.
[[nodiscard]] Result<void> check_trap(const std::string& name, const registry::DeviceInfo& device,
                                      const std::uint32_t* words, Trap& out,
                                      Ran what = Ran::Program);

}  // namespace wye::exec
