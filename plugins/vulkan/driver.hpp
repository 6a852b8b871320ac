// SPDX-License-Identifier: Apache-2.0
//
// Loader, InstanceTable, DeviceTable: the Vulkan loader, opened at run time, and tables of the
// functions of an instance and of a device. Immutable once filled; calls follow Vulkan's rules for
// external synchronisation.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan_core.h>

#include <memory>
#include <string>

#include "wye/sdk/result.hpp"

namespace wye::vulkan {

#define WYE_VULKAN_GLOBAL_SYMBOLS(X)          \
    X(vkEnumerateInstanceVersion)             \
    X(vkEnumerateInstanceLayerProperties)     \
    X(vkEnumerateInstanceExtensionProperties) \
    X(vkCreateInstance)

#define WYE_VULKAN_INSTANCE_SYMBOLS(X)          \
    X(vkDestroyInstance)                        \
    X(vkEnumeratePhysicalDevices)               \
    X(vkGetPhysicalDeviceProperties)            \
    X(vkGetPhysicalDeviceProperties2)           \
    X(vkGetPhysicalDeviceFeatures2)             \
    X(vkGetPhysicalDeviceMemoryProperties2)     \
    X(vkGetPhysicalDeviceQueueFamilyProperties) \
    X(vkEnumerateDeviceExtensionProperties)     \
    X(vkCreateDevice)                           \
    X(vkGetDeviceProcAddr)

#define WYE_VULKAN_DEVICE_SYMBOLS(X) \
    X(vkDestroyDevice)               \
    X(vkGetDeviceQueue)              \
    X(vkAllocateMemory)              \
    X(vkFreeMemory)                  \
    X(vkMapMemory)                   \
    X(vkCreateBuffer)                \
    X(vkDestroyBuffer)               \
    X(vkGetBufferMemoryRequirements) \
    X(vkBindBufferMemory)            \
    X(vkCreateShaderModule)          \
    X(vkDestroyShaderModule)         \
    X(vkCreateDescriptorSetLayout)   \
    X(vkDestroyDescriptorSetLayout)  \
    X(vkCreatePipelineLayout)        \
    X(vkDestroyPipelineLayout)       \
    X(vkCreatePipelineCache)         \
    X(vkDestroyPipelineCache)        \
    X(vkGetPipelineCacheData)        \
    X(vkCreateComputePipelines)      \
    X(vkDestroyPipeline)             \
    X(vkCreateDescriptorPool)        \
    X(vkDestroyDescriptorPool)       \
    X(vkResetDescriptorPool)         \
    X(vkAllocateDescriptorSets)      \
    X(vkUpdateDescriptorSets)        \
    X(vkCreateCommandPool)           \
    X(vkDestroyCommandPool)          \
    X(vkResetCommandPool)            \
    X(vkAllocateCommandBuffers)      \
    X(vkBeginCommandBuffer)          \
    X(vkEndCommandBuffer)            \
    X(vkCmdBindPipeline)             \
    X(vkCmdBindDescriptorSets)       \
    X(vkCmdPushConstants)            \
    X(vkCmdDispatch)                 \
    X(vkCmdDispatchIndirect)         \
    X(vkCmdCopyBuffer)               \
    X(vkCmdFillBuffer)               \
    X(vkCmdPipelineBarrier)          \
    X(vkCmdResetQueryPool)           \
    X(vkCmdWriteTimestamp)           \
    X(vkCreateQueryPool)             \
    X(vkDestroyQueryPool)            \
    X(vkGetQueryPoolResults)         \
    X(vkCreateSemaphore)             \
    X(vkDestroySemaphore)            \
    X(vkQueueSubmit)

// Core functions since Vulkan 1.2; before that, functions of VK_KHR_timeline_semaphore with the
// suffix KHR.
#define WYE_VULKAN_TIMELINE_SYMBOLS(X) \
    X(vkGetSemaphoreCounterValue)      \
    X(vkWaitSemaphores)

// A Vulkan structure with its type set, and all other members zero.
template <typename Structure>
[[nodiscard]] constexpr Structure make(VkStructureType type) {
    Structure out{};
    out.sType = type;
    return out;
}

#define WYE_VULKAN_MEMBER(name) PFN_##name name = nullptr;

inline constexpr const char* kLibrary = "libvulkan.so.1";

struct Loader {
    PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr = nullptr;
    WYE_VULKAN_GLOBAL_SYMBOLS(WYE_VULKAN_MEMBER)

    // Opens `library` by name. The library stays mapped until the process ends, since drivers that
    // it loads keep threads. The error MISSING_DEPENDENCY names the absent library or function.
    [[nodiscard]] static Result<std::unique_ptr<const Loader>> open(const std::string& library);
};

struct InstanceTable {
    WYE_VULKAN_INSTANCE_SYMBOLS(WYE_VULKAN_MEMBER)
    // From VK_EXT_calibrated_timestamps; null: the loader does not know it.
    PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT
        vkGetPhysicalDeviceCalibrateableTimeDomainsEXT = nullptr;
    // From VK_NV_cooperative_matrix; null: the loader does not know it.
    PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesNV
        vkGetPhysicalDeviceCooperativeMatrixPropertiesNV = nullptr;

    [[nodiscard]] static Result<InstanceTable> load(const Loader& loader, VkInstance instance);
};

// The functions of one VkDevice, which is the first argument of most of them.
struct DeviceTable {
    WYE_VULKAN_DEVICE_SYMBOLS(WYE_VULKAN_MEMBER)
    WYE_VULKAN_TIMELINE_SYMBOLS(WYE_VULKAN_MEMBER)
    // Core since Vulkan 1.2; before that, from VK_EXT_host_query_reset. Null: not enabled.
    PFN_vkResetQueryPool vkResetQueryPool = nullptr;
    // From VK_EXT_external_memory_host; null: not enabled.
    PFN_vkGetMemoryHostPointerPropertiesEXT vkGetMemoryHostPointerPropertiesEXT = nullptr;
    // From VK_EXT_calibrated_timestamps; null: not enabled.
    PFN_vkGetCalibratedTimestampsEXT vkGetCalibratedTimestampsEXT = nullptr;

    [[nodiscard]] static Result<DeviceTable> load(const InstanceTable& instance, VkDevice device);
};

#undef WYE_VULKAN_MEMBER

}  // namespace wye::vulkan
