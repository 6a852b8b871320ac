// SPDX-License-Identifier: Apache-2.0
//
// The trap words of a launch that has ended. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "registry/device.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

struct Trap {
    std::uint32_t code = 0;   // the largest
    std::uint32_t count = 0;  // 0: none
};

// TRAPPED, or LIMIT_EXCEEDED for a loop that the driver ended; `out` is set for the first only.
[[nodiscard]] Result<void> check_trap(const std::string& program,
                                      const registry::DeviceInfo& device,
                                      const std::uint32_t* words, Trap& out);

}  // namespace wye::exec
