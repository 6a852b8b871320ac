// SPDX-License-Identifier: Apache-2.0
//
// Owners of Vulkan objects.
#pragma once

#include "vulkan/driver.hpp"
#include "wye/sdk/handle.hpp"

namespace wye::vulkan {

// A VkDevice and its functions: the part of a Context that owners of Vulkan objects refer to. All
// objects of the VkDevice are destroyed before the VkDevice.
struct ContextState {
    VkDevice handle = VK_NULL_HANDLE;
    DeviceTable vk;

    ContextState() = default;
    ContextState(const ContextState&) = delete;
    ContextState& operator=(const ContextState&) = delete;
    ~ContextState() {
        if (handle != VK_NULL_HANDLE && vk.vkDestroyDevice != nullptr)
            vk.vkDestroyDevice(handle, nullptr);
    }
};

template <typename Object, auto Destroy>
void destroy(const ContextState& context, Object object) {
    (context.vk.*Destroy)(context.handle, object, nullptr);
}
template <typename Object, auto Destroy>
using Handle = sdk::Handle<const ContextState, Object, &destroy<Object, Destroy>>;

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
