// SPDX-License-Identifier: Apache-2.0
//
// A device's stable id, from what does not change between runs. Pure. Internal to the registry.
#pragma once

#include <cstdint>
#include <string>

#include "registry/device.hpp"

namespace wye::registry {

// What tells a device apart: plugin, name, PCI address, UUID.
[[nodiscard]] std::string identity_of(const DeviceInfo& device);

// 16 hex digits of identity and `ordinal`, which counts devices of equal identity.
[[nodiscard]] std::string device_id(const DeviceInfo& device, std::uint32_t ordinal);

}  // namespace wye::registry
