// SPDX-License-Identifier: Apache-2.0
//
// Submission: the submit in progress of a queue: its waits, the commands recorded so far, and the
// copies that the host makes before and after them. One thread at a time.
//
// If the queue is idle and the submit waits for nothing, the host itself copies the uploads at the
// submit's start whose buffers are mapped. The host also copies the downloads at the submit's end
// whose buffers it can read at full speed. All other transfers use the staging ring. A submit of
// such copies by the host alone never enters the driver, if it waits for nothing and the queue is
// idle. If the operations equal those of an earlier submit, that submit's command buffer is
// submitted again. The command buffer of a Command is submitted unchanged, between the command
// buffers of the operations before and after it.
//
// If the device has queues that only copy (the transfer lane), submits of only copies and fills go
// to them, and so do large uploads at the start of other submits. Work that waits for other work
// uses the transfer lane only if it is all copies and fills, and the queue is of the kind TRANSFER:
// several queues share a VkQueue, so waiting work of one queue would block the other queues.
//
// Submits of only dispatches and fills that wait for nothing may be kept for a short time, and then
// sent together (outbox.hpp).
#pragma once

#include <vector>

#include "vulkan/commands/segments.hpp"

namespace wye::vulkan {

class Command;

// The segments of a submit; none if `last` is before `first`.
struct Submit {
    std::uint64_t first = 0, last = 0;
};

class Submission {
  public:
    Submission(Device& device, Segments& segments) : device_(device), segments_(segments) {}

    // Starts a submit. `timed`: with timestamps, if the device has them.
    void begin(bool timed);
    // Makes later operations run after a segment of another queue. If the host still has to read
    // buffers directly for that queue, waits for these reads, since this queue may write those
    // buffers.
    [[nodiscard]] Result<void> wait_for(const SegmentWait& event);
    // Makes later operations run after a value of a semaphore of the application.
    void wait_for(SemaphoreWait event) {
        device_.follows_application.store(true);
        waits_.push_back(std::move(event));
    }
    // Returns the operations to record. The host, or an earlier submit's command buffer, does the
    // other operations.
    [[nodiscard]] std::span<const wye_operation> plan(std::span<const wye_operation> operations);
    [[nodiscard]] Result<void> dispatch(const Program& program, const wye_dispatch_op& op);
    [[nodiscard]] Result<void> copy(const Buffer& source, const Buffer& target,
                                    const wye_copy_op& op);
    [[nodiscard]] Result<void> fill(const Buffer& target, const wye_fill_op& op);
    [[nodiscard]] Result<void> upload(const Buffer& target, const wye_transfer_op& op);
    [[nodiscard]] Result<void> download(const Buffer& source, const wye_transfer_op& op);
    [[nodiscard, gnu::hot]] Result<void> execute(Command& command, const wye_execute_op& op);
    // Sends a submit that consists of one command, and writes its segments to `out`. False: nothing
    // was sent, and the caller must submit step by step, which also gives the error.
    [[nodiscard, gnu::hot]] bool replay(Command& command, const wye_execute_op& op, Submit& out);
    // Like `replay`, for a queue with work in flight: the submit may also be kept.
    [[nodiscard, gnu::noinline]] bool replay_behind(Command& command, const wye_execute_op& op,
                                                    Submit& out);
    // Sends the rest of the submit, or keeps it for a short time.
    [[nodiscard]] Result<Submit> end();
    // Drops the part of the submit that was not sent.
    void abandon() noexcept;

    // Whether a part of the submit was sent or kept.
    [[nodiscard]] bool sent() const noexcept { return segments_.newest() >= first_; }

  private:
    [[nodiscard]] Segment& segment() {
        if (!segment_) [[unlikely]]
            segment_ = std::make_unique<Segment>();
        if (segment_->commands.empty()) segment_->lane = lane_;
        return *segment_;
    }
    // Waits for earlier submits whose downloads the host itself copies from buffers that the
    // operations write.
    void finish_reads(std::span<const wye_operation> operations);
    void finish_reads(const wye_operation& operation);
    void finish_reads(const Buffer& target);
    void choose_lane(std::span<const wye_operation> operations);
    // Called before work that needs the compute lane. Sends the large uploads at the start of the
    // submit, and switches to the compute lane.
    [[nodiscard]] Result<void> compute();
    // Adds a recorded command to the segment.
    void add(Command& command);
    // The recording in progress, which is the segment's last; starts a recording if none is in
    // progress.
    Result<Recording*> recording();
    Result<void> end_recording();
    // Takes staged bytes. If the ring is full, sends the recorded commands, and waits for free
    // bytes.
    Result<StagedRange> stage(std::uint64_t size, std::uint64_t alignment);
    Result<void> send();
    // Whether the segment is the whole submit, and may be kept and sent later.
    [[nodiscard]] bool is_light() const {
        return light_ && waits_.empty() && before_.empty() && after_.empty() &&
               segments_.newest() < first_ && segment_->lane == Lane::Compute &&
               segment_->copies.empty() && !segment_->staged;
    }

    Device& device_;
    Segments& segments_;
    std::uint64_t first_ = 1;  // the first segment of this submit
    std::vector<SemaphoreWait> waits_;
    std::unique_ptr<Segment> segment_;  // not sent yet; null: empty
    Recording* recording_ = nullptr;
    std::vector<sdk::HostCopy> before_, after_;
    std::vector<std::uint64_t> reads_;  // the serials of the buffers that after_ reads
    Recipe recipe_;
    Lane lane_ = Lane::Compute;
    bool divided_ = false;     // the submit begins with large uploads on the transfer lane
    bool timed_ = false;       // the submit's segments have timestamps
    bool light_ = false;       // a submit of these operations may be kept
    bool repeatable_ = false;  // recipe_ describes the current recording
};

}  // namespace wye::vulkan
