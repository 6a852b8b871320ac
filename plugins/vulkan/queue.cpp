// SPDX-License-Identifier: Apache-2.0
#include "vulkan/queue.hpp"

#include <algorithm>
#include <cstring>

#include "vulkan/buffer.hpp"
#include "vulkan/commands/fill.hpp"
#include "vulkan/program.hpp"
#include "wye/sdk/queue_submit.hpp"

namespace wye::vulkan {
namespace {

// Transfers are cut into pieces of this size, so that the host copies one while the device moves
// another.
constexpr std::uint64_t kPieceBytes = std::uint64_t{4} << 20U;

bool upload_by_host(const wye_operation& op) {
    return op.kind == WYE_OPERATION_UPLOAD && buffer_of(op.u.transfer.buffer).mapped != nullptr;
}

bool download_by_host(const wye_operation& op) {
    return op.kind == WYE_OPERATION_DOWNLOAD && buffer_of(op.u.transfer.buffer).host_reads_fast;
}

}  // namespace

Result<std::unique_ptr<Queue>> Queue::create(Device& device, bool timing) {
    const DeviceTable& vk = device.vk();
    auto type = make<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    auto info = make<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
    info.pNext = &type;
    VkSemaphore semaphore = VK_NULL_HANDLE;
    const VkResult result = vk.vkCreateSemaphore(device.handle(), &info, nullptr, &semaphore);
    WYE_TRY(device.check(result, "vkCreateSemaphore"));
    SemaphoreHandle handle(device.logical, semaphore);
    return std::unique_ptr<Queue>(
        new Queue(device, device.next_queue(), std::move(handle), timing));
}

Queue::~Queue() { (void)timeline_.wait_segment(timeline_.newest_segment()); }

// What is still to be read from a buffer itself is read before anything may write it.
Result<void> Queue::begin() {
    repeatable_ = false;
    if (!timeline_.reads_pending()) return {};
    return timeline_.wait_segment(timeline_.newest_segment());
}

// What the other queue reads back from a buffer itself must be out before this one writes.
Result<void> Queue::wait_for(Queue& other, std::uint64_t value) {
    WYE_ASSIGN(const SegmentWait event, other.timeline_.event_for(value));
    if (event.number == 0) return {};
    if (other.timeline_.reads_pending()) return other.timeline_.wait_segment(event.number);
    wait_semaphores_.push_back(event.semaphore);
    wait_segments_.push_back(event.number);
    return {};
}

// Leading uploads and trailing downloads that the host can do itself are left to it. The commands
// between them are those of an earlier submit, where they are equal.
std::span<const wye_operation> Queue::plan(std::span<const wye_operation> operations) {
    std::span<const wye_operation> rest = operations;
    if (timeline_.idle() && wait_semaphores_.empty())
        for (; !rest.empty() && upload_by_host(rest.front()); rest = rest.subspan(1)) {
            const wye_transfer_op& op = rest.front().u.transfer;
            before_.push_back({buffer_of(op.buffer).mapped + op.offset, op.source, op.size});
        }
    std::size_t commands = rest.size();
    while (commands > 0 && download_by_host(rest[commands - 1])) --commands;
    for (const wye_operation& down : rest.subspan(commands)) {
        const wye_transfer_op& op = down.u.transfer;
        after_.push_back({op.target, buffer_of(op.buffer).mapped + op.offset, op.size});
    }
    rest = rest.first(commands);
    if (!describe(rest, recipe_)) return rest;
    recording_ = timeline_.recordings.take_repeating(recipe_);
    repeatable_ = recording_ == nullptr;
    return repeatable_ ? rest : std::span<const wye_operation>();
}

Result<void> Queue::dispatch(const wye_dispatch_op& op) {
    const Program& program = program_of(op.program);
    StagedRange block;
    if (program.block_in_buffer()) {
        const VkPhysicalDeviceLimits& limits = device_.info.properties.core.limits;
        WYE_ASSIGN(block, stage(program.block_bytes(), limits.minStorageBufferOffsetAlignment));
    }
    WYE_ASSIGN(Recording * now, recording());
    return now->dispatch(program, op, block);
}

Result<void> Queue::copy(const wye_copy_op& op) {
    WYE_ASSIGN(Recording * now, recording());
    now->copy(op);
    return {};
}

Result<void> Queue::fill(const wye_fill_op& op) {
    const Buffer& target = buffer_of(op.target);
    // Whole words of a repeating word are one command; the rest is copied from staged bytes.
    const FillParts parts = parts_of(op);
    if (parts.staged_bytes != 0) {
        WYE_ASSIGN(const StagedRange staged, stage(parts.staged_bytes, 8));
        write_pattern(staged.bytes(), parts.staged_bytes, op);
        WYE_ASSIGN(Recording * now, recording());
        now->copy_in(staged, target, staged_copies(op, parts, staged.offset));
    }
    if (parts.words == 0) return {};
    WYE_ASSIGN(Recording * now, recording());
    now->fill(target, parts.first, parts.words * 4, parts.word);
    return {};
}

Result<void> Queue::upload(const wye_transfer_op& op) {
    const auto* source = static_cast<const std::byte*>(op.source);
    for (std::uint64_t at = 0; at < op.size; at += kPieceBytes) {
        const std::uint64_t size = std::min(op.size - at, kPieceBytes);
        WYE_ASSIGN(const StagedRange staged, stage(size, 16));
        std::memcpy(staged.bytes(), source + at, size);
        WYE_ASSIGN(Recording * now, recording());
        now->copy_in(staged, buffer_of(op.buffer), {{staged.offset, op.offset + at, size}});
    }
    return {};
}

Result<void> Queue::download(const wye_transfer_op& op) {
    auto* target = static_cast<std::byte*>(op.target);
    for (std::uint64_t at = 0; at < op.size; at += kPieceBytes) {
        const std::uint64_t size = std::min(op.size - at, kPieceBytes);
        WYE_ASSIGN(const StagedRange staged, stage(size, 16));
        WYE_ASSIGN(Recording * now, recording());
        now->copy_out(buffer_of(op.buffer), op.offset + at, size, staged);
        staged_reads_.push_back({target + at, staged.bytes(), size});
    }
    return {};
}

// Reads by the host need an end of the work to come after, unless all work has ended.
Result<std::uint64_t> Queue::end() {
    if (repeatable_ && recording_) recording_->remember(recipe_);
    const bool reads = !after_.empty();
    if (recording_ || !wait_semaphores_.empty() || (reads && !timeline_.idle())) {
        staged_reads_.insert(staged_reads_.end(), after_.begin(), after_.end());
        after_.clear();
        WYE_TRY(send());
        if (reads) timeline_.expect_reads();
    }
    sdk::run(before_);
    sdk::run(after_);
    return timeline_.add();
}

// What was sent reads back into memory that the caller takes back.
void Queue::drain() { (void)timeline_.wait_segment(timeline_.newest_segment()); }

void Queue::abandon() {
    if (recording_) timeline_.recordings.give_back(std::move(recording_));
    timeline_.staging.drop();
    wait_semaphores_.clear();
    wait_segments_.clear();
    before_.clear();
    staged_reads_.clear();
    after_.clear();
}

Result<Recording*> Queue::recording() {
    if (!recording_) {
        WYE_ASSIGN(recording_, timeline_.recordings.take());
        WYE_TRY(recording_->begin());
    }
    return recording_.get();
}

Result<StagedRange> Queue::stage(std::uint64_t size, std::uint64_t alignment) {
    for (;;) {
        WYE_ASSIGN(const auto range, timeline_.staging.take(size, alignment));
        if (range) return *range;
        if (recording_) WYE_TRY(send());
        if (const auto oldest = timeline_.staging.oldest())
            WYE_TRY(timeline_.wait_segment(*oldest));
    }
}

// One vkQueueSubmit: waits, what is recorded, and the signal of the next segment.
Result<void> Queue::send() {
    if (recording_ && !recording_->ended()) WYE_TRY(recording_->end());
    const std::uint64_t number = timeline_.next_segment();
    const VkSemaphore signal = timeline_.semaphore();
    const VkCommandBuffer commands = recording_ ? recording_->commands() : VK_NULL_HANDLE;
    const std::vector<VkPipelineStageFlags> stages(wait_semaphores_.size(),
                                                   VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    auto values =
        make<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    values.waitSemaphoreValueCount = static_cast<std::uint32_t>(wait_segments_.size());
    values.pWaitSemaphoreValues = wait_segments_.data();
    values.signalSemaphoreValueCount = 1;
    values.pSignalSemaphoreValues = &number;
    auto info = make<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    info.pNext = &values;
    info.waitSemaphoreCount = values.waitSemaphoreValueCount;
    info.pWaitSemaphores = wait_semaphores_.data();
    info.pWaitDstStageMask = stages.data();
    info.commandBufferCount = recording_ ? 1 : 0;
    info.pCommandBuffers = &commands;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &signal;
    sdk::run(before_);
    VkResult result = VK_SUCCESS;
    {
        const sdk::Lock lock(shared_.mutex);
        result = device_.vk().vkQueueSubmit(shared_.handle, 1, &info, VK_NULL_HANDLE);
    }
    WYE_TRY(queued(device_.check(result, "vkQueueSubmit")));
    timeline_.add({number, std::move(recording_), std::exchange(staged_reads_, {})});
    wait_semaphores_.clear();
    wait_segments_.clear();
    return {};
}

}  // namespace wye::vulkan

template class wye::sdk::InOrderQueue<wye::vulkan::Queue>;
