// SPDX-License-Identifier: Apache-2.0
//
// Owners of Vulkan objects. Movable; not synchronised.
#pragma once

#include <utility>

#include "vulkan/driver.hpp"

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

// One object of a device, destroyed through `Destroy`.
template <typename Object, auto Destroy>
class Handle {
  public:
    Handle() = default;
    Handle(const LogicalDevice& device, Object object) : device_(&device), object_(object) {}
    Handle(Handle&& other) noexcept
        : device_(other.device_), object_(std::exchange(other.object_, Object{})) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(device_, other.device_);
        std::swap(object_, other.object_);
        return *this;
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() {
        if (object_ != Object{}) (device_->vk.*Destroy)(device_->handle, object_, nullptr);
    }

    [[nodiscard]] Object get() const { return object_; }
    explicit operator bool() const { return object_ != Object{}; }

  private:
    const LogicalDevice* device_ = nullptr;
    Object object_{};
};

using DeviceMemory = Handle<VkDeviceMemory, &DeviceTable::vkFreeMemory>;
using BufferObject = Handle<VkBuffer, &DeviceTable::vkDestroyBuffer>;
using ShaderModule = Handle<VkShaderModule, &DeviceTable::vkDestroyShaderModule>;
using SetLayout = Handle<VkDescriptorSetLayout, &DeviceTable::vkDestroyDescriptorSetLayout>;
using PipelineLayout = Handle<VkPipelineLayout, &DeviceTable::vkDestroyPipelineLayout>;
using PipelineCache = Handle<VkPipelineCache, &DeviceTable::vkDestroyPipelineCache>;
using Pipeline = Handle<VkPipeline, &DeviceTable::vkDestroyPipeline>;
using DescriptorPool = Handle<VkDescriptorPool, &DeviceTable::vkDestroyDescriptorPool>;
using CommandPool = Handle<VkCommandPool, &DeviceTable::vkDestroyCommandPool>;
using QueryPool = Handle<VkQueryPool, &DeviceTable::vkDestroyQueryPool>;
using Semaphore = Handle<VkSemaphore, &DeviceTable::vkDestroySemaphore>;

}  // namespace wye::vulkan
