// SPDX-License-Identifier: Apache-2.0
//
// Scores a device for the selector `auto`, with the reasons. Pure; thread-safe.
#pragma once

#include "registry/catalogue.hpp"

namespace wye::route {

// A higher score is better; search order breaks ties. The resulting order: GPUs, accelerators, the
// CPU without a driver, the CPU behind a driver, other devices.
[[nodiscard]] registry::Score rank(const registry::DeviceInfo& device);

}  // namespace wye::route
