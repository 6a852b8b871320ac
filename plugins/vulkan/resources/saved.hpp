// SPDX-License-Identifier: Apache-2.0
//
// The saved form of a program: the driver's pipeline cache behind a header, so that damaged bytes,
// and bytes of another driver, never reach the driver. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "vulkan/driver.hpp"
#include "wye/abi.h"

namespace wye::vulkan {

// A 64-bit hash of `bytes` (FNV-1a); detects damage, not forgery.
[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes);

[[nodiscard]] std::vector<std::byte> pack_saved(std::span<const std::byte> cache);

// Returns the pipeline cache in `saved`. UNSUPPORTED: damaged, or made by another driver or device.
[[nodiscard]] Result<std::span<const std::byte>> unpack_saved(
    wye_bytes saved, const VkPhysicalDeviceProperties& device, std::string_view label);

}  // namespace wye::vulkan
