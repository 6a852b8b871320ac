// SPDX-License-Identifier: Apache-2.0
//
// Chooses the memory type of a buffer. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "vulkan/driver.hpp"

namespace wye::vulkan {

enum class Placement : std::uint8_t {
    Device,  // fastest for kernels
    Upload,  // mapped, for bytes that the host writes once
    Host     // mapped, and readable by the host at full speed
};

// The best memory type among `allowed` (one bit per type), or none.
// Device: device-local. Mapped only if the host and the device share all memory; on other devices
// the part that can be mapped is small, and slow for the host to read.
// Upload: mapped and coherent, in host memory if possible, and preferably not cached, as the device
// then need not snoop the host's caches.
// Host: mapped and coherent, cached if possible.
[[nodiscard]] std::optional<std::uint32_t> choose_memory_type(
    const VkPhysicalDeviceMemoryProperties& memory, std::uint32_t allowed, Placement placement);

}  // namespace wye::vulkan
