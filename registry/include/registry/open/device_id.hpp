// SPDX-License-Identifier: Apache-2.0
//
// A device's stable id, from properties that do not change between runs. Pure. Internal to the
// registry.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "registry/open/device.hpp"

namespace wye::registry {

// The properties that identify a device, as one text: plugin, name, PCI address, UUID.
[[nodiscard]] std::string identity_of(const DeviceInfo& device);

// A hash, as 16 hex digits, of the identity and `ordinal`, which numbers devices with equal
// identities.
[[nodiscard]] std::string device_id(const DeviceInfo& device, std::uint32_t ordinal);

// The hash of any identity, as 16 hex digits.
[[nodiscard]] std::string hash_id(std::string_view identity, std::uint32_t ordinal);

}  // namespace wye::registry
