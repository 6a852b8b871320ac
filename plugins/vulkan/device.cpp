// SPDX-License-Identifier: Apache-2.0
#include "vulkan/device.hpp"

#include <algorithm>

#include "vulkan/buffer.hpp"
#include "vulkan/context/context.hpp"
#include "vulkan/status.hpp"

namespace wye::vulkan {

Device::Device(Plugin& owner, const DeviceInfo& found) : plugin(owner), info(found) {}
Device::~Device() = default;

Result<std::unique_ptr<Device>> Device::create(Plugin& plugin, const DeviceInfo& info) {
    constexpr std::uint32_t kMostQueues = 8;
    std::unique_ptr<Device> device(new Device(plugin, info));
    const std::uint32_t queues = std::min(info.family.count, kMostQueues);
    WYE_TRY(make_logical_device(plugin.instance->table(), info, queues, device->logical));
    for (std::uint32_t q = 0; q < queues; ++q) {
        SharedQueue& shared = *device->queues_.emplace_back(std::make_unique<SharedQueue>());
        const sdk::Lock lock(shared.mutex);
        device->vk().vkGetDeviceQueue(device->handle(), info.family.index, q, &shared.handle);
    }
    WYE_ASSIGN(device->nothing_, Buffer::create(*device, Buffer::kLeastBytes, "empty ranges"));
    return device;
}

Result<sdk::MemoryState> Device::memory() const {
    sdk::MemoryState out{info.memory_bytes(), UINT64_MAX};
    if (!info.has_extension(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME)) return out;
    auto budget = make<VkPhysicalDeviceMemoryBudgetPropertiesEXT>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT);
    auto memory = make<VkPhysicalDeviceMemoryProperties2>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2);
    memory.pNext = &budget;
    plugin.instance->table().vkGetPhysicalDeviceMemoryProperties2(info.handle, &memory);
    out.free = 0;
    for (std::uint32_t h = 0; h < memory.memoryProperties.memoryHeapCount; ++h)
        if ((memory.memoryProperties.memoryHeaps[h].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0)
            out.free += budget.heapBudget[h] - std::min(budget.heapBudget[h], budget.heapUsage[h]);
    return out;
}

Error Device::failed(VkResult result, std::string_view call, std::string_view subject) {
    Error error =
        native_error(result, call, subject.empty() ? std::string_view(info.name) : subject);
    if (result == VK_ERROR_DEVICE_LOST) loss.record(error);
    return error;
}

}  // namespace wye::vulkan
