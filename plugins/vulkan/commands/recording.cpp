// SPDX-License-Identifier: Apache-2.0
#include "vulkan/commands/recording.hpp"

#include <array>
#include <cstring>

#include "vulkan/commands/fill.hpp"

namespace wye::vulkan {
namespace {

constexpr VkPipelineStageFlags kCompute = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
constexpr VkPipelineStageFlags kTransfer = VK_PIPELINE_STAGE_TRANSFER_BIT;

VkAccessFlags reads_of(VkPipelineStageFlags stages) {
    return VK_ACCESS_TRANSFER_READ_BIT | ((stages & kCompute) != 0 ? VK_ACCESS_SHADER_READ_BIT : 0);
}
VkAccessFlags writes_of(VkPipelineStageFlags stages) {
    return VK_ACCESS_TRANSFER_WRITE_BIT |
           ((stages & kCompute) != 0 ? VK_ACCESS_SHADER_WRITE_BIT : 0);
}

// The number of descriptor sets in the first pool. Each further pool is twice as large, up to the
// ninth.
constexpr std::uint32_t kFirstPoolSets = 16;
constexpr std::uint32_t kDescriptorsPerSet = 8;

Access access_of(const wye_binding& binding, bool writes) {
    return {buffer_of(binding.buffer).serial, binding.offset, binding.size, writes};
}

bool same(const wye_binding& a, const wye_binding& b) {
    return a.buffer == b.buffer && a.offset == b.offset && a.size == b.size;
}

}  // namespace

Result<std::unique_ptr<Recording>> Recording::create(Device& device, Lane lane) {
    const DeviceTable& vk = device.vk();
    std::unique_ptr<Recording> out(new Recording(device, lane));
    auto pool_info = make<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    pool_info.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
    pool_info.queueFamilyIndex = device.context().family(lane);
    VkCommandPool pool = VK_NULL_HANDLE;
    VkResult result = vk.vkCreateCommandPool(device.handle(), &pool_info, nullptr, &pool);
    WYE_TRY(device.check(result, "vkCreateCommandPool"));
    out->pool_ = CommandPoolHandle(device.context(), pool);
    auto info = make<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    info.commandPool = pool;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    result = vk.vkAllocateCommandBuffers(device.handle(), &info, &out->commands_);
    WYE_TRY(device.check(result, "vkAllocateCommandBuffers"));
    return out;
}

Result<void> Recording::begin(bool simultaneous) {
    const DeviceTable& vk = device_.vk();
    VkResult result = vk.vkResetCommandPool(device_.handle(), pool_.get(), 0);
    WYE_TRY(device_.check(result, "vkResetCommandPool"));
    for (std::size_t p = 0; p <= current_pool_ && p < descriptor_pools_.size(); ++p)
        vk.vkResetDescriptorPool(device_.handle(), descriptor_pools_[p].get(), 0);
    current_pool_ = 0;
    ended_ = false;
    recipe_.clear();
    bound_program_ = nullptr;
    planner_.restart();
    auto info = make<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    if (simultaneous) info.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
    result = vk.vkBeginCommandBuffer(commands_, &info);
    WYE_TRY(device_.check(result, "vkBeginCommandBuffer"));
    auto barrier = make<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
    barrier.srcAccessMask = writes_of(stages_);
    barrier.dstAccessMask = reads_of(stages_) | writes_of(stages_);
    vk.vkCmdPipelineBarrier(commands_, stages_, stages_, 0, 1, &barrier, 0, nullptr, 0, nullptr);
    return {};
}

void Recording::separate(Stage stage, std::span<const Access> accesses) {
    const std::optional<Barrier> needed = planner_.before(stage, accesses);
    if (!needed) return;
    auto barrier = make<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
    VkPipelineStageFlags after = 0;
    if (needed->after_compute) {
        after |= kCompute;
        barrier.srcAccessMask |= VK_ACCESS_SHADER_WRITE_BIT;
    }
    if (needed->after_transfer) {
        after |= kTransfer;
        barrier.srcAccessMask |= VK_ACCESS_TRANSFER_WRITE_BIT;
    }
    barrier.dstAccessMask = reads_of(stages_) | writes_of(stages_);
    device_.vk().vkCmdPipelineBarrier(commands_, after, stages_, 0, 1, &barrier, 0, nullptr, 0,
                                      nullptr);
}

// The stage that reads the workgroup counts of an indirect dispatch is not covered by the other
// barriers, not even the first one of the command buffer. So this barrier waits for all work before
// it.
void Recording::await_groups() {
    auto barrier = make<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
    barrier.srcAccessMask = writes_of(stages_);
    barrier.dstAccessMask = VK_ACCESS_INDIRECT_COMMAND_READ_BIT;
    device_.vk().vkCmdPipelineBarrier(commands_, stages_, VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT, 0, 1,
                                      &barrier, 0, nullptr, 0, nullptr);
}

Result<VkDescriptorSet> Recording::allocate_set(const Layouts::Layout& layout) {
    const DeviceTable& vk = device_.vk();
    const VkDescriptorSetLayout set_layout = layout.set.get();
    for (;; ++current_pool_) {
        const bool fresh = current_pool_ == descriptor_pools_.size();
        if (fresh) {
            const std::uint32_t sets = kFirstPoolSets << std::min<std::size_t>(current_pool_, 8);
            const VkDescriptorPoolSize size{
                VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                std::max(sets * kDescriptorsPerSet, layout.descriptors)};
            auto info =
                make<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
            if (device_.info.rewrites_descriptors())
                info.flags = VK_DESCRIPTOR_POOL_CREATE_UPDATE_AFTER_BIND_BIT;
            info.maxSets = sets;
            info.poolSizeCount = 1;
            info.pPoolSizes = &size;
            VkDescriptorPool pool = VK_NULL_HANDLE;
            const VkResult result =
                vk.vkCreateDescriptorPool(device_.handle(), &info, nullptr, &pool);
            WYE_TRY(device_.check(result, "vkCreateDescriptorPool"));
            DescriptorPoolHandle owned(device_.context(), pool);  // push_back may throw
            descriptor_pools_.push_back(std::move(owned));
        }
        auto info =
            make<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
        info.descriptorPool = descriptor_pools_[current_pool_].get();
        info.descriptorSetCount = 1;
        info.pSetLayouts = &set_layout;
        VkDescriptorSet set = VK_NULL_HANDLE;
        const VkResult result = vk.vkAllocateDescriptorSets(device_.handle(), &info, &set);
        if (result == VK_SUCCESS) return set;
        const bool full =
            result == VK_ERROR_OUT_OF_POOL_MEMORY || result == VK_ERROR_FRAGMENTED_POOL;
        if (!full || fresh) return device_.failed(result, "vkAllocateDescriptorSets");
    }
}

bool Recording::is_bound(const Program& program, const wye_dispatch_op& op) const {
    if (bound_program_ != &program || program.block_in_buffer() || exchangeable_) return false;
    for (std::uint32_t b = 0; b < program.binding_count(); ++b)
        if (!same(op.bindings[b], bound_ranges_[b])) return false;
    return !program.has_trap() || same(op.trap, bound_ranges_.back());
}

void Recording::write(VkDescriptorSet set, const Program& program, const wye_dispatch_op& op,
                      const StagedRange& block) {
    infos_.clear();
    // Rounds sizes up to whole words, since lowered code may access narrow elements as parts of
    // words. A buffer's capacity is in whole words, so it includes the rounded range.
    const auto add_range = [&](const wye_binding& range) {
        const std::uint64_t size = range.offset % 4 == 0 ? (range.size + 3) / 4 * 4 : range.size;
        infos_.push_back(
            range.size == 0
                ? VkDescriptorBufferInfo{device_.nothing().get(), 0, VK_WHOLE_SIZE}
                : VkDescriptorBufferInfo{buffer_of(range.buffer).get(), range.offset, size});
    };
    for (std::uint32_t b = 0; b < program.binding_count(); ++b) add_range(op.bindings[b]);
    if (program.has_trap()) add_range(op.trap);
    const auto ranges = static_cast<std::uint32_t>(infos_.size());
    if (program.block_in_buffer())
        infos_.push_back({block.buffer->get(), block.offset, program.block_bytes()});

    // Consecutive bindings of one type need only one write.
    std::array<VkWriteDescriptorSet, 2> writes{};
    std::uint32_t count = 0;
    const auto add = [&](std::uint32_t binding, std::uint32_t first, std::uint32_t descriptors) {
        VkWriteDescriptorSet& write = writes[count++];
        write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
        write.dstSet = set;
        write.dstBinding = binding;
        write.descriptorCount = descriptors;
        write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        write.pBufferInfo = infos_.data() + first;
    };
    if (ranges != 0) add(0, 0, ranges);
    if (program.block_in_buffer()) add(program.binding_count() + 1, ranges, 1);
    device_.vk().vkUpdateDescriptorSets(device_.handle(), count, writes.data(), 0, nullptr);
}

Result<void> Recording::bind(const Program& program, const wye_dispatch_op& op,
                             const StagedRange& block) {
    const DeviceTable& vk = device_.vk();
    bound_ranges_.assign(op.bindings, op.bindings + program.binding_count());
    if (program.has_trap()) bound_ranges_.push_back(op.trap);
    if (bound_program_ != &program)
        vk.vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, program.pipeline());
    bound_program_ = &program;
    set_ = VK_NULL_HANDLE;
    if (!program.has_descriptors()) return {};
    WYE_ASSIGN(set_, allocate_set(program.shared_layout()));
    write(set_, program, op, block);
    vk.vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, program.layout(), 0, 1,
                               &set_, 0, nullptr);
    return {};
}

Result<void> Recording::dispatch(const Program& program, const wye_dispatch_op& op,
                                 const DispatchMemory& memory) {
    const DeviceTable& vk = device_.vk();
    WYE_TRY(program.check(op));
    accesses_.clear();
    for (std::uint32_t b = 0; b < program.binding_count(); ++b) {
        const std::uint32_t access = program.access(b);
        if (access == 0) continue;
        const bool writes = (access & 2U) != 0;
        accesses_.push_back(memory.exchangeable ? Access{kAnyBuffer, 0, UINT64_MAX, writes}
                                                : access_of(op.bindings[b], writes));
    }
    if (program.has_trap()) accesses_.push_back(access_of(op.trap, true));
    const bool indirect = (op.flags & WYE_LAUNCH_INDIRECT) != 0;
    if (indirect) accesses_.push_back(access_of(op.indirect, false));
    if (memory.exchangeable || !is_bound(program, op)) WYE_TRY(bind(program, op, memory.block));
    exchangeable_ = memory.exchangeable;
    separate(Stage::Compute, accesses_);
    if (indirect) await_groups();
    if (program.block_in_buffer()) {
        program.fill_block(op, memory.block.bytes());
    } else if (program.block_in_push_constants()) {
        block_.resize(program.block_bytes());
        program.fill_block(op, block_.data());
        vk.vkCmdPushConstants(commands_, program.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                              program.block_bytes(), block_.data());
    }
    if (indirect) {
        vk.vkCmdDispatchIndirect(commands_, buffer_of(op.indirect.buffer).get(),
                                 op.indirect.offset);
    } else if (memory.groups.buffer != nullptr) {
        std::memcpy(memory.groups.bytes(), op.groups, sizeof op.groups);
        vk.vkCmdDispatchIndirect(commands_, memory.groups.buffer->get(), memory.groups.offset);
    } else {
        vk.vkCmdDispatch(commands_, op.groups[0], op.groups[1], op.groups[2]);
    }
    return {};
}

void Recording::copy(const Buffer& source, const Buffer& target, const wye_copy_op& op) {
    const Access accesses[] = {{source.serial, op.source_offset, op.size, false},
                               {target.serial, op.target_offset, op.size, true}};
    separate(Stage::Transfer, accesses);
    const VkBufferCopy region{op.source_offset, op.target_offset, op.size};
    device_.vk().vkCmdCopyBuffer(commands_, source.get(), target.get(), 1, &region);
}

// One command fills the whole words; all other bytes are copied from staged bytes.
void Recording::fill(const Buffer& target, const wye_fill_op& op, const StagedRange& staged) {
    const FillParts parts = parts_of(op);
    if (parts.staged_bytes != 0) {
        write_pattern(staged.bytes(), parts.staged_bytes, op);
        copy_in(staged, target, staged_copies(op, parts, staged.offset));
    }
    if (parts.words == 0) return;
    const Access access{target.serial, parts.first, parts.words * 4, true};
    separate(Stage::Transfer, {&access, 1});
    device_.vk().vkCmdFillBuffer(commands_, target.get(), parts.first, parts.words * 4, parts.word);
}

void Recording::copy_in(const StagedRange& source, const Buffer& target,
                        const std::vector<VkBufferCopy>& regions) {
    accesses_.clear();
    for (const VkBufferCopy& region : regions)
        accesses_.push_back({target.serial, region.dstOffset, region.size, true});
    separate(Stage::Transfer, accesses_);
    device_.vk().vkCmdCopyBuffer(commands_, source.buffer->get(), target.get(),
                                 static_cast<std::uint32_t>(regions.size()), regions.data());
}

void Recording::copy_out(const Buffer& source, std::uint64_t offset, std::uint64_t size,
                         const StagedRange& target) {
    const Access access{source.serial, offset, size, false};
    separate(Stage::Transfer, {&access, 1});
    const VkBufferCopy region{offset, target.offset, size};
    device_.vk().vkCmdCopyBuffer(commands_, source.get(), target.buffer->get(), 1, &region);
}

Result<void> Recording::end() {
    const DeviceTable& vk = device_.vk();
    auto barrier = make<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
    barrier.srcAccessMask = writes_of(stages_);
    barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vk.vkCmdPipelineBarrier(commands_, stages_, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
                            nullptr, 0, nullptr);
    const VkResult result = vk.vkEndCommandBuffer(commands_);
    WYE_TRY(device_.check(result, "vkEndCommandBuffer"));
    ended_ = true;
    return {};
}

}  // namespace wye::vulkan
