// SPDX-License-Identifier: Apache-2.0
//
// Owners of Vulkan objects.
#pragma once

#include "vulkan/driver.hpp"
#include "wye/sdk/handle.hpp"

namespace wye::vulkan {

// A VkDevice with its functions. Everything made from it must be gone before.
struct LogicalDevice {
    VkDevice handle = VK_NULL_HANDLE;
    DeviceTable vk;

    LogicalDevice() = default;
    LogicalDevice(const LogicalDevice&) = delete;
    LogicalDevice& operator=(const LogicalDevice&) = delete;
    ~LogicalDevice() {
        if (handle != VK_NULL_HANDLE) vk.vkDestroyDevice(handle, nullptr);
    }
};

template <typename Object, auto Destroy>
void destroy(const LogicalDevice& device, Object object) {
    (device.vk.*Destroy)(device.handle, object, nullptr);
}
template <typename Object, auto Destroy>
using Handle = sdk::Handle<const LogicalDevice, Object, &destroy<Object, Destroy>>;

using MemoryHandle = Handle<VkDeviceMemory, &DeviceTable::vkFreeMemory>;
using BufferHandle = Handle<VkBuffer, &DeviceTable::vkDestroyBuffer>;
using ShaderModuleHandle = Handle<VkShaderModule, &DeviceTable::vkDestroyShaderModule>;
using SetLayoutHandle = Handle<VkDescriptorSetLayout, &DeviceTable::vkDestroyDescriptorSetLayout>;
using PipelineLayoutHandle = Handle<VkPipelineLayout, &DeviceTable::vkDestroyPipelineLayout>;
using PipelineCacheHandle = Handle<VkPipelineCache, &DeviceTable::vkDestroyPipelineCache>;
using PipelineHandle = Handle<VkPipeline, &DeviceTable::vkDestroyPipeline>;
using DescriptorPoolHandle = Handle<VkDescriptorPool, &DeviceTable::vkDestroyDescriptorPool>;
using CommandPoolHandle = Handle<VkCommandPool, &DeviceTable::vkDestroyCommandPool>;
using QueryPoolHandle = Handle<VkQueryPool, &DeviceTable::vkDestroyQueryPool>;
using SemaphoreHandle = Handle<VkSemaphore, &DeviceTable::vkDestroySemaphore>;

}  // namespace wye::vulkan
