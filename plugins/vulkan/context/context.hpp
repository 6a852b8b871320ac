// SPDX-License-Identifier: Apache-2.0
//
// Makes a VkDevice with everything that the plugin can use of it.
#pragma once

#include "vulkan/discovery.hpp"
#include "vulkan/handle.hpp"

namespace wye::vulkan {

// Fills `out` in; `queue_count` queues of the device's family.
[[nodiscard]] Result<void> make_logical_device(const InstanceTable& instance,
                                               const DeviceInfo& info, std::uint32_t queue_count,
                                               LogicalDevice& out);

}  // namespace wye::vulkan
