// SPDX-License-Identifier: Apache-2.0
//
// How good a device is for `auto`, with the reasons. Pure; thread-safe.
#pragma once

#include "registry/catalogue.hpp"

namespace wye::route {

// The sum of what speaks for the device; ties are broken by search order. The order that follows:
// GPUs, accelerators, the processor without a driver between, the processor behind a driver, any
// other device.
[[nodiscard]] registry::Score rank(const registry::DeviceInfo& device);

}  // namespace wye::route
