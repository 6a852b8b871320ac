// SPDX-License-Identifier: Apache-2.0
//
// The score of a device for `auto`, with its reasons. Pure; thread-safe.
#pragma once

#include "registry/catalogue.hpp"

namespace wye::route {

// A higher score is better; search order breaks ties. The resulting order: GPUs, accelerators, the
// CPU without a driver, the CPU behind a driver, other devices. Last come devices that take no
// format that the host lowers to.
[[nodiscard]] registry::Score rank(const registry::DeviceInfo& device);

}  // namespace wye::route
