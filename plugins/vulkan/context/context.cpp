// SPDX-License-Identifier: Apache-2.0
#include "vulkan/context/context.hpp"

#include "vulkan/status.hpp"

namespace wye::vulkan {
namespace {

// Extensions behind what is used, where the device's version does not contain them.
std::vector<const char*> extensions_to_enable(const DeviceInfo& info) {
    std::vector<const char*> out;
    const auto add = [&](const char* extension, std::uint32_t version_with_it) {
        if (info.properties.core.apiVersion < version_with_it && info.has_extension(extension))
            out.push_back(extension);
    };
#define WYE_VULKAN_FEATURE(type, member, structure, extension, version) add(extension, version);
    WYE_VULKAN_FEATURES(WYE_VULKAN_FEATURE)
#undef WYE_VULKAN_FEATURE
    add(VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME, VK_API_VERSION_1_2);
    return out;
}

}  // namespace

Result<void> make_logical_device(const InstanceTable& instance, const DeviceInfo& info,
                                 std::uint32_t queue_count, LogicalDevice& out) {
    // Everything of the list that the device has; robust access stays off, programs check ranges.
    Features features = info.features;
    auto enabled = make<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
    enabled.features.shaderInt64 = info.features.core.shaderInt64;
    enabled.features.shaderInt16 = info.features.core.shaderInt16;
    enabled.features.shaderFloat64 = info.features.core.shaderFloat64;
    enabled.pNext = features.chain(
        [&](const char* extension, std::uint32_t version) { return info.has(extension, version); });
    const std::vector<const char*> extensions = extensions_to_enable(info);
    const std::vector<float> priorities(queue_count, 1.0F);
    auto queues = make<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
    queues.queueFamilyIndex = info.family.index;
    queues.queueCount = queue_count;
    queues.pQueuePriorities = priorities.data();
    auto create = make<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
    create.pNext = &enabled;
    create.queueCreateInfoCount = 1;
    create.pQueueCreateInfos = &queues;
    create.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    create.ppEnabledExtensionNames = extensions.data();
    VkDevice handle = VK_NULL_HANDLE;
    const VkResult result = instance.vkCreateDevice(info.handle, &create, nullptr, &handle);
    if (result != VK_SUCCESS) return native_error(result, "vkCreateDevice", info.name);
    auto table = DeviceTable::load(instance, handle);
    if (!table.ok()) {
        const auto destroy = reinterpret_cast<PFN_vkDestroyDevice>(
            instance.vkGetDeviceProcAddr(handle, "vkDestroyDevice"));
        if (destroy != nullptr) destroy(handle, nullptr);
        return std::move(table).error();
    }
    out.vk = *table;
    out.handle = handle;
    return {};
}

}  // namespace wye::vulkan
