// SPDX-License-Identifier: Apache-2.0
#include "vulkan/queue.hpp"

#include <algorithm>
#include <cstring>

#include "vulkan/commands/fill.hpp"
#include "vulkan/program.hpp"
#include "wye/sdk/queue_slots.hpp"

namespace wye::vulkan {
namespace {

void run(std::vector<HostCopy>& copies) {
    for (const HostCopy& copy : copies) copy.run();
    copies.clear();
}

bool upload_by_host(const wye_operation& op) {
    return op.kind == WYE_OPERATION_UPLOAD && buffer_of(op.u.transfer.buffer).mapped != nullptr;
}

bool download_by_host(const wye_operation& op) {
    return op.kind == WYE_OPERATION_DOWNLOAD && buffer_of(op.u.transfer.buffer).host_reads_fast;
}

}  // namespace

Result<std::unique_ptr<Queue>> Queue::create(OpenDevice& device, bool timing) {
    NativeQueue& native = *device.queues[device.next_queue.fetch_add(1) % device.queues.size()];
    WYE_ASSIGN(auto timeline, Timeline::create(device, native, timing));
    return std::unique_ptr<Queue>(new Queue(device, native, std::move(timeline)));
}

Queue::~Queue() { (void)timeline_->wait_segment(timeline_->newest_segment()); }

Result<void> Queue::gather_waits(std::span<const wye_event> waits) {
    wait_semaphores_.clear();
    wait_segments_.clear();
    for (const wye_event& event : waits) {
        Queue& other = queue_of(event.queue);
        if (&other == this) continue;  // this queue is in order
        if (auto error = other.timeline_->failure(event.value)) return *std::move(error);
        const std::uint64_t segment = other.timeline_->segment_of(event.value);
        if (segment == 0) continue;
        // What the other queue reads back from a buffer itself must be out before this one writes.
        if (other.timeline_->reads_pending()) {
            WYE_TRY(other.timeline_->wait_segment(segment));
            continue;
        }
        wait_semaphores_.push_back(other.timeline_->semaphore());
        wait_segments_.push_back(segment);
    }
    return {};
}

Result<Recording*> Queue::recording() {
    if (!recording_) {
        WYE_ASSIGN(recording_, timeline_->take_recording());
        WYE_TRY(recording_->begin());
    }
    return recording_.get();
}

Result<StagedRange> Queue::stage(std::uint64_t size, std::uint64_t alignment) {
    for (;;) {
        WYE_ASSIGN(const std::optional<StagedRange> range, timeline_->stage(size, alignment));
        if (range) return *range;
        if (recording_) WYE_TRY(send());
        WYE_TRY(timeline_->wait_for_staging());
    }
}

// One vkQueueSubmit: waits, what is recorded, and the signal of the next segment.
Result<void> Queue::send() {
    if (recording_ && !recording_->ended()) WYE_TRY(recording_->end());
    const std::uint64_t number = timeline_->next_segment();
    const VkSemaphore signal = timeline_->semaphore();
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
    run(before_);
    VkResult result = VK_SUCCESS;
    {
        const std::lock_guard lock(native_.mutex);
        result = device_.vk().vkQueueSubmit(native_.handle, 1, &info, VK_NULL_HANDLE);
    }
    if (result != VK_SUCCESS) return device_.failed(result, "vkQueueSubmit");
    timeline_->add({number, std::move(recording_), std::exchange(staged_reads_, {})});
    wait_semaphores_.clear();
    wait_segments_.clear();
    sent_ = true;
    return {};
}

// Forgets the part of a failed submit that was not sent.
void Queue::abandon() {
    if (recording_) timeline_->give_back(std::move(recording_));
    timeline_->drop_staged();
    before_.clear();
    staged_reads_.clear();
    after_.clear();
}

Result<void> Queue::record_fill(const wye_fill_op& op) {
    const Buffer& target = buffer_of(op.target);
    if (op.size == 0) return {};
    // Whole words of a repeating word are one command; the rest is copied from staged bytes.
    const std::uint64_t end = op.offset + op.size;
    const std::uint64_t first = (op.offset + 3) / 4 * 4;
    const std::uint64_t last = end / 4 * 4;
    const std::optional<std::uint32_t> word = word_of(op);
    if (word && first < last) {
        // Both odd ends from one staged word-aligned piece.
        if (first != op.offset || last != end) {
            WYE_ASSIGN(const StagedRange staged, stage(8, 8));
            write_pattern(staged.bytes(), 8, op);
            std::vector<VkBufferCopy> regions;
            if (first != op.offset)
                regions.push_back({staged.offset, op.offset, first - op.offset});
            if (last != end) regions.push_back({staged.offset, last, end - last});
            WYE_ASSIGN(Recording * now, recording());
            now->copy_in(staged, target, regions);
        }
        WYE_ASSIGN(Recording * now, recording());
        now->fill(target, first, last - first, *word);
        return {};
    }
    const std::uint64_t piece = std::min<std::uint64_t>(op.size, 65536);
    WYE_ASSIGN(const StagedRange staged, stage(piece, 8));
    write_pattern(staged.bytes(), piece, op);
    std::vector<VkBufferCopy> regions;
    for (std::uint64_t at = 0; at < op.size; at += piece)
        regions.push_back({staged.offset, op.offset + at, std::min(piece, op.size - at)});
    WYE_ASSIGN(Recording * now, recording());
    now->copy_in(staged, target, regions);
    return {};
}

Result<void> Queue::record_upload(const wye_transfer_op& op) {
    const auto* source = static_cast<const std::byte*>(op.source);
    for (std::uint64_t at = 0; at < op.size; at += Timeline::kPieceBytes) {
        const std::uint64_t size = std::min(op.size - at, Timeline::kPieceBytes);
        WYE_ASSIGN(const StagedRange staged, stage(size, 16));
        std::memcpy(staged.bytes(), source + at, size);
        WYE_ASSIGN(Recording * now, recording());
        now->copy_in(staged, buffer_of(op.buffer), {{staged.offset, op.offset + at, size}});
    }
    return {};
}

Result<void> Queue::record_download(const wye_transfer_op& op) {
    auto* target = static_cast<std::byte*>(op.target);
    for (std::uint64_t at = 0; at < op.size; at += Timeline::kPieceBytes) {
        const std::uint64_t size = std::min(op.size - at, Timeline::kPieceBytes);
        WYE_ASSIGN(const StagedRange staged, stage(size, 16));
        WYE_ASSIGN(Recording * now, recording());
        now->copy_out(buffer_of(op.buffer), op.offset + at, size, staged);
        staged_reads_.push_back({target + at, staged.bytes(), size});
    }
    return {};
}

Result<void> Queue::record(const wye_operation& op) {
    switch (op.kind) {
        case WYE_OPERATION_DISPATCH: {
            const BuiltProgram& program = program_of(op.u.dispatch.program);
            StagedRange block;
            if (program.block_in_buffer()) {
                const VkPhysicalDeviceLimits& limits = device_.info.properties.core.limits;
                WYE_ASSIGN(block,
                           stage(program.block_bytes(), limits.minStorageBufferOffsetAlignment));
            }
            WYE_ASSIGN(Recording * now, recording());
            return now->dispatch(program, op.u.dispatch, block);
        }
        case WYE_OPERATION_COPY: {
            if (op.u.copy.size == 0) return {};
            WYE_ASSIGN(Recording * now, recording());
            now->copy(op.u.copy);
            return {};
        }
        case WYE_OPERATION_FILL:
            return record_fill(op.u.fill);
        case WYE_OPERATION_UPLOAD:
            return record_upload(op.u.transfer);
        case WYE_OPERATION_DOWNLOAD:
            return record_download(op.u.transfer);
        default:
            return Error(
                Code::UNSUPPORTED,
                "the Vulkan plugin does not know operation kind " + std::to_string(op.kind),
                "Fix: hand it dispatches, copies, fills, uploads and downloads");
    }
}

// Leading uploads and trailing downloads that the host can do itself are left to it. The commands
// between them are those of an earlier submit, where they are equal.
Result<void> Queue::record_all(std::span<const wye_operation> operations) {
    std::size_t begin = 0;
    std::size_t end = operations.size();
    if (timeline_->idle() && wait_semaphores_.empty())
        for (; begin < end && upload_by_host(operations[begin]); ++begin) {
            const wye_transfer_op& up = operations[begin].u.transfer;
            before_.push_back({buffer_of(up.buffer).mapped + up.offset, up.source, up.size});
        }
    while (end > begin && download_by_host(operations[end - 1])) --end;
    const auto commands = operations.subspan(begin, end - begin);
    const bool repeatable = describe(commands, recipe_);
    if (repeatable) recording_ = timeline_->take_recorded(recipe_);
    if (!recording_) {
        for (const wye_operation& op : commands) WYE_TRY(record(op));
        if (repeatable && recording_) recording_->remember(recipe_);
    }
    for (const wye_operation& op : operations.subspan(end)) {
        const wye_transfer_op& down = op.u.transfer;
        after_.push_back({down.target, buffer_of(down.buffer).mapped + down.offset, down.size});
    }
    return {};
}

Result<std::uint64_t> Queue::submit(std::span<const wye_operation> operations,
                                    std::span<const wye_event> waits) {
    if (auto error = timeline_->failure(UINT64_MAX - 1)) return *std::move(error);
    // What is still to be read from a buffer itself is read before anything may write it.
    if (timeline_->reads_pending()) WYE_TRY(timeline_->wait_segment(timeline_->newest_segment()));
    WYE_TRY(gather_waits(waits));
    abandon();  // what a submit left that ran out of host memory
    sent_ = false;
    auto result = record_all(operations);
    // Reads by the host need an end of the work to come after, unless all work has ended.
    if (result.ok() &&
        (recording_ || !wait_semaphores_.empty() || (!after_.empty() && !timeline_->idle()))) {
        staged_reads_.insert(staged_reads_.end(), after_.begin(), after_.end());
        result = send();
        if (result.ok() && !after_.empty()) timeline_->expect_reads();
        if (result.ok()) after_.clear();
    }
    if (!result.ok()) {
        abandon();
        if (sent_ || result.error().code == Code::DEVICE_LOST) timeline_->poison(result.error());
        return std::move(result).error();
    }
    run(before_);
    run(after_);
    return timeline_->add_value();
}

namespace {

void destroy(wye_queue_object* object) {
    const Plugin& plugin = queue_of(object).device().plugin;
    sdk::QueueSlots<Queue>::destroy(object);
    plugin.deliver_messages();
}

constexpr wye_queue_table make_table() {
    wye_queue_table table = sdk::QueueSlots<Queue>::table();
    table.destroy = destroy;
    return table;
}

}  // namespace

constinit const wye_queue_table kQueueTable = make_table();

}  // namespace wye::vulkan
