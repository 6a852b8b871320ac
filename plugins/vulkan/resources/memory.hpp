// SPDX-License-Identifier: Apache-2.0
//
// Which memory a buffer lives in. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "vulkan/driver.hpp"

namespace wye::vulkan {

enum class Placement : std::uint8_t {
    Device,  // where kernels run fastest
    Host     // for transfers: readable by the host at full speed
};

// The best type among those of `allowed` (a bit for each type), or none. DeviceInfo: the device's
// own memory; mapped only where the host shares all of it, because elsewhere the mappable part of
// it is small and slow to read. Host: mapped and coherent, cached where there is such a type.
[[nodiscard]] std::optional<std::uint32_t> choose_memory_type(
    const VkPhysicalDeviceMemoryProperties& memory, std::uint32_t allowed, Placement placement);

}  // namespace wye::vulkan
