// SPDX-License-Identifier: Apache-2.0
//
// Chooses the native variant that replaces a program's body on a device. Pure; thread-safe.
#pragma once

#include <cstdint>

#include "registry/device.hpp"
#include "wye/sdk/program.hpp"
#include "wye/sdk/result.hpp"

namespace wye::route {

// Returns the index of the first variant whose format the device accepts and whose filter matches
// the device; ir::kNone if there is none. INVALID_ARGUMENT for a filter that is not a selector.
[[nodiscard]] Result<std::uint32_t> choose_variant(const registry::DeviceInfo& device,
                                                   const ir::Program& program);

}  // namespace wye::route
