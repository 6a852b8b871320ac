// SPDX-License-Identifier: Apache-2.0
#include "vulkan/context/context.hpp"

#include <algorithm>

#include "vulkan/status.hpp"

namespace wye::vulkan {
namespace {

// The extensions to enable: those of the features that the plugin uses, unless the device's Vulkan
// version includes the extension, and those of the other functions that the plugin uses.
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
    if (info.host_memory_alignment() != 0)
        out.push_back(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    if (info.reads_clock) out.push_back(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME);
    return out;
}

}  // namespace

Result<std::unique_ptr<Context>> Context::create(const InstanceTable& instance,
                                                 const DeviceInfo& info) {
    constexpr std::uint32_t kMostQueues = 8;
    const std::uint32_t queue_count = std::min(info.family.count, kMostQueues);
    const std::uint32_t transfers = std::min(info.transfers.count, kMostQueues);
    const bool two_families = transfers != 0 && info.transfers.index != info.family.index;
    // Enables all known features that the device has. Robust access is not among them: programs
    // check ranges.
    Features features = info.features;
    // Enables only one feature of this structure. The other features are for shaders that the
    // plugin does not make.
    features.indexing = make<VkPhysicalDeviceDescriptorIndexingFeatures>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_FEATURES);
    features.indexing.descriptorBindingStorageBufferUpdateAfterBind =
        info.rewrites_descriptors() ? VK_TRUE : VK_FALSE;
    auto enabled = make<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
    enabled.features.shaderInt64 = info.features.core.shaderInt64;
    enabled.features.shaderInt16 = info.features.core.shaderInt16;
    enabled.features.shaderFloat64 = info.features.core.shaderFloat64;
    enabled.pNext = features.chain(
        [&](const char* extension, std::uint32_t version) { return info.has(extension, version); });
    const std::vector<const char*> extensions = extensions_to_enable(info);
    // Priorities are fixed when the device is made, before any queue is asked for, so all
    // priorities are equal.
    const std::vector<float> priorities(kMostQueues, 1.0F);
    std::array<VkDeviceQueueCreateInfo, 2> queues;
    queues.fill(make<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO));
    queues[0].queueFamilyIndex = info.family.index;
    queues[0].queueCount = queue_count;
    queues[1].queueFamilyIndex = info.transfers.index;
    queues[1].queueCount = transfers;
    for (VkDeviceQueueCreateInfo& one : queues) one.pQueuePriorities = priorities.data();
    auto create = make<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
    create.pNext = &enabled;
    create.queueCreateInfoCount = two_families ? 2 : 1;
    create.pQueueCreateInfos = queues.data();
    create.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    create.ppEnabledExtensionNames = extensions.data();
    std::unique_ptr<Context> context(new Context(instance, info));
    const VkResult result =
        instance.vkCreateDevice(info.handle, &create, nullptr, &context->handle);
    if (result != VK_SUCCESS) return native_error(result, "vkCreateDevice", info.name);
    context->vk.vkDestroyDevice = reinterpret_cast<PFN_vkDestroyDevice>(
        instance.vkGetDeviceProcAddr(context->handle, "vkDestroyDevice"));
    WYE_ASSIGN(context->vk, DeviceTable::load(instance, context->handle));
    context->take_queues(Lane::Compute, queue_count, context->queues_);
    context->take_queues(Lane::Transfers, transfers, context->transfers_);
    if (two_families) context->families_ = {info.family.index, info.transfers.index};
    return context;
}

std::uint64_t Context::free_bytes() const { return vulkan::free_bytes(instance_, info_); }

// Grants the kind COMPUTE if the compute family has no graphics, and TRANSFER if a family only
// copies. All queues have equal priority.
VkResult Context::make_queue(const wye_queue_desc& wanted, SemaphoreHandle& out,
                             sdk::QueueGrant& granted) {
    if (wanted.kind == WYE_QUEUE_COMPUTE && info_.family.computes_only)
        granted.kind = WYE_QUEUE_COMPUTE;
    if (wanted.kind == WYE_QUEUE_TRANSFER && !transfers_.empty()) granted.kind = WYE_QUEUE_TRANSFER;
    granted.native_index = turn_.fetch_add(1) % static_cast<std::uint32_t>(queues_.size()) + 1;
    auto type = make<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    auto create = make<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
    create.pNext = &type;
    return vk.vkCreateSemaphore(handle, &create, nullptr, out.receive(*this));
}

void Context::take_queues(Lane lane, std::uint32_t count, Queues& out) {
    for (std::uint32_t q = 0; q < count; ++q) {
        SharedQueue& shared = *out.emplace_back(std::make_unique<SharedQueue>());
        const sdk::Lock lock(shared.mutex);
        vk.vkGetDeviceQueue(handle, family(lane), q, &shared.handle);
    }
}

VkBufferCreateInfo Context::describe_buffer(std::uint64_t size, VkBufferUsageFlags usages) const {
    auto out = make<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    out.size = size;
    out.usage = usages | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    if (families_[0] == families_[1]) return out;
    out.sharingMode = VK_SHARING_MODE_CONCURRENT;
    out.queueFamilyIndexCount = static_cast<std::uint32_t>(families_.size());
    out.pQueueFamilyIndices = families_.data();
    return out;
}

}  // namespace wye::vulkan
