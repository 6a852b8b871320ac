// SPDX-License-Identifier: Apache-2.0
//
// Features: the device features that the plugin uses, as Vulkan's structures. The same chain
// queries and enables them. A structure is linked only if the device has its extension, or a
// version that includes it; the features of all other structures stay false.
#pragma once

#include "vulkan/driver.hpp"

namespace wye::vulkan {

// X(structure, member, STRUCTURE_TYPE, extension, version that includes it)
#define WYE_VULKAN_FEATURES(X)                                                                    \
    X(VkPhysicalDevice16BitStorageFeatures, storage16, PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES,    \
      "VK_KHR_16bit_storage", VK_API_VERSION_1_1)                                                 \
    X(VkPhysicalDevice8BitStorageFeatures, storage8, PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES,       \
      "VK_KHR_8bit_storage", VK_API_VERSION_1_2)                                                  \
    X(VkPhysicalDeviceShaderFloat16Int8Features, small,                                           \
      PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES, "VK_KHR_shader_float16_int8",                 \
      VK_API_VERSION_1_2)                                                                         \
    X(VkPhysicalDeviceShaderAtomicInt64Features, atomic_int64,                                    \
      PHYSICAL_DEVICE_SHADER_ATOMIC_INT64_FEATURES, "VK_KHR_shader_atomic_int64",                 \
      VK_API_VERSION_1_2)                                                                         \
    X(VkPhysicalDeviceTimelineSemaphoreFeatures, timeline,                                        \
      PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, "VK_KHR_timeline_semaphore",                   \
      VK_API_VERSION_1_2)                                                                         \
    X(VkPhysicalDeviceHostQueryResetFeatures, host_resets,                                        \
      PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES, "VK_EXT_host_query_reset", VK_API_VERSION_1_2)   \
    X(VkPhysicalDeviceShaderSubgroupExtendedTypesFeatures, subgroup_types,                        \
      PHYSICAL_DEVICE_SHADER_SUBGROUP_EXTENDED_TYPES_FEATURES,                                    \
      "VK_KHR_shader_subgroup_extended_types", VK_API_VERSION_1_2)                                \
    X(VkPhysicalDeviceDescriptorIndexingFeatures, indexing,                                       \
      PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_FEATURES, "VK_EXT_descriptor_indexing",                 \
      VK_API_VERSION_1_2)                                                                         \
    X(VkPhysicalDeviceVulkanMemoryModelFeatures, memory_model,                                    \
      PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES, "VK_KHR_vulkan_memory_model",                 \
      VK_API_VERSION_1_2)                                                                         \
    X(VkPhysicalDeviceScalarBlockLayoutFeatures, scalar_layout,                                   \
      PHYSICAL_DEVICE_SCALAR_BLOCK_LAYOUT_FEATURES, "VK_EXT_scalar_block_layout",                 \
      VK_API_VERSION_1_2)                                                                         \
    X(VkPhysicalDeviceSubgroupSizeControlFeatures, subgroup_size,                                 \
      PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES, "VK_EXT_subgroup_size_control",             \
      VK_API_VERSION_1_3)                                                                         \
    X(VkPhysicalDeviceMaintenance4Features, maintenance4, PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES, \
      "VK_KHR_maintenance4", VK_API_VERSION_1_3)                                                  \
    X(VkPhysicalDeviceShaderAtomicFloatFeaturesEXT, atomic_float,                                 \
      PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT, "VK_EXT_shader_atomic_float", UINT32_MAX)

struct Features {
    VkPhysicalDeviceFeatures core{};
#define WYE_VULKAN_FEATURE(type, member, structure, extension, version) \
    type member = make<type>(VK_STRUCTURE_TYPE_##structure);
    WYE_VULKAN_FEATURES(WYE_VULKAN_FEATURE)
#undef WYE_VULKAN_FEATURE

    // Chains the structures that `has(extension, version)` accepts, and returns the first. The
    // chain points into this object.
    template <typename Has>
    void* chain(Has&& has) {
        void* first = nullptr;
#define WYE_VULKAN_FEATURE(type, member, structure, extension, version) \
    if (has(extension, version)) {                                      \
        member.pNext = first;                                           \
        first = &member;                                                \
    }
        WYE_VULKAN_FEATURES(WYE_VULKAN_FEATURE)
#undef WYE_VULKAN_FEATURE
        return first;
    }
};

}  // namespace wye::vulkan
