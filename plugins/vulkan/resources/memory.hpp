// SPDX-License-Identifier: Apache-2.0
//
// The choice of a memory type for a buffer. Pure.
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

// The best type among those of `allowed` (a bit for each type), or none. Device: device-local
// memory; mapped only if the host shares all of it, since elsewhere the mappable part is small and
// slow to read. Upload: mapped and coherent, in the host's memory if possible, rather not cached,
// since the device then need not ask the host's caches. Host: mapped and coherent, cached if
// possible.
[[nodiscard]] std::optional<std::uint32_t> choose_memory_type(
    const VkPhysicalDeviceMemoryProperties& memory, std::uint32_t allowed, Placement placement);

}  // namespace wye::vulkan
