// SPDX-License-Identifier: Apache-2.0
#include "vulkan/commands/stamps.hpp"

namespace wye::vulkan {

std::uint64_t nanoseconds_of(const DeviceInfo& info, std::uint64_t ticks) {
    const std::uint32_t bits = info.family.timestamp_bits;
    const std::uint64_t mask = bits >= 64 ? UINT64_MAX : (std::uint64_t{1} << bits) - 1;
    const double period = info.properties.core.limits.timestampPeriod;
    if (period == 1.0) return ticks & mask;  // a double would lose digits
    return static_cast<std::uint64_t>(static_cast<long double>(ticks & mask) * period);
}

Result<std::unique_ptr<Stamps>> Stamps::create(Device& device, Lane lane) {
    const DeviceTable& vk = device.vk();
    std::unique_ptr<Stamps> out(new Stamps(device));
    auto query_info = make<VkQueryPoolCreateInfo>(VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
    query_info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    query_info.queryCount = 2;
    VkResult result = vk.vkCreateQueryPool(device.handle(), &query_info, nullptr,
                                           out->queries_.receive(device.context()));
    WYE_TRY(device.check(result, "vkCreateQueryPool"));
    auto pool_info = make<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    pool_info.queueFamilyIndex = device.context().family(lane);
    result = vk.vkCreateCommandPool(device.handle(), &pool_info, nullptr,
                                    out->pool_.receive(device.context()));
    WYE_TRY(device.check(result, "vkCreateCommandPool"));
    auto info = make<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    info.commandPool = out->pool_.get();
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = static_cast<std::uint32_t>(out->buffers_.size());
    result = vk.vkAllocateCommandBuffers(device.handle(), &info, out->buffers_.data());
    WYE_TRY(device.check(result, "vkAllocateCommandBuffers"));
    WYE_TRY(out->record());
    return out;
}

Result<void> Stamps::record() {
    const DeviceTable& vk = device_.vk();
    const auto info = make<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    for (const VkCommandBuffer buffer : buffers_)
        WYE_TRY(device_.check(vk.vkBeginCommandBuffer(buffer, &info), "vkBeginCommandBuffer"));
    if (!resets_by_host()) vk.vkCmdResetQueryPool(before(), queries_.get(), 0, 2);
    vk.vkCmdWriteTimestamp(before(), VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, queries_.get(), 0);
    vk.vkCmdWriteTimestamp(after(), VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries_.get(), 1);
    for (const VkCommandBuffer buffer : buffers_)
        WYE_TRY(device_.check(vk.vkEndCommandBuffer(buffer), "vkEndCommandBuffer"));
    return {};
}

void Stamps::reset() {
    if (resets_by_host()) device_.vk().vkResetQueryPool(device_.handle(), queries_.get(), 0, 2);
}

Result<Stamps::Times> Stamps::times() const {
    std::array<std::uint64_t, 2> ticks{};
    const VkResult result =
        device_.vk().vkGetQueryPoolResults(device_.handle(), queries_.get(), 0, 2, sizeof ticks,
                                           ticks.data(), sizeof ticks[0], VK_QUERY_RESULT_64_BIT);
    WYE_TRY(device_.check(result, "vkGetQueryPoolResults"));
    return Times{nanoseconds_of(device_.info, ticks[0]), nanoseconds_of(device_.info, ticks[1])};
}

}  // namespace wye::vulkan
