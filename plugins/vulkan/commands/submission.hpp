// SPDX-License-Identifier: Apache-2.0
//
// Submission: the submit in progress of a queue: its waits, the commands recorded so far, and the
// copies that the host makes before and after them. One thread at a time.
//
// Where the host accesses a buffer's memory at full speed, uploads at the start of a submit to an
// idle queue and downloads at its end are plain copies by the host; all others use the staging
// ring. A submit that consists of these alone never enters the driver. If the operations equal
// those of an earlier submit, its command buffer is submitted again. The command buffers of
// commands are submitted unchanged, between command buffers of the operations before and after
// them.
//
// If the device has queues that only copy (the transfer lane), submits of only copies and fills go
// to them, and so do large uploads at the start of other submits. This holds only if the work waits
// for nothing, or the queue is of the kind TRANSFER: several queues share a VkQueue, so waiting
// work of one would block the others.
//
// Submits of only dispatches and fills, which wait for nothing, may be kept for a short time, to be
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
    // Makes later operations run after a segment of another queue. First finishes that queue's
    // direct reads of buffers, which this queue may write.
    [[nodiscard]] Result<void> wait_for(const SegmentWait& event);
    // The same for a semaphore of the application.
    void wait_for(SemaphoreWait event) { waits_.push_back(std::move(event)); }
    // Returns the operations to record. The host, or an earlier command buffer, does the others.
    [[nodiscard]] std::span<const wye_operation> plan(std::span<const wye_operation> operations);
    [[nodiscard]] Result<void> dispatch(const Program& program, const wye_dispatch_op& op);
    [[nodiscard]] Result<void> copy(const Buffer& source, const Buffer& target,
                                    const wye_copy_op& op);
    [[nodiscard]] Result<void> fill(const Buffer& target, const wye_fill_op& op);
    [[nodiscard]] Result<void> upload(const Buffer& target, const wye_transfer_op& op);
    [[nodiscard]] Result<void> download(const Buffer& source, const wye_transfer_op& op);
    [[nodiscard, gnu::hot]] Result<void> execute(Command& command, const wye_execute_op& op);
    // Sends a submit that consists of one command, and writes its segments to `out`. False: nothing
    // was sent, and the caller must take the single steps, also to get the error.
    [[nodiscard, gnu::hot]] bool replay(Command& command, const wye_execute_op& op, Submit& out);
    // The same behind work in flight: the submit may be kept.
    [[nodiscard, gnu::noinline]] bool replay_behind(Command& command, const wye_execute_op& op,
                                                    Submit& out);
    // Sends what is not sent yet, or keeps it.
    [[nodiscard]] Result<Submit> end();
    // Drops the part that was not sent.
    void abandon() noexcept;

    // Whether a part was sent, or kept.
    [[nodiscard]] bool sent() const noexcept { return segments_.newest() >= first_; }

  private:
    [[nodiscard]] Segment& segment() {
        if (!segment_) [[unlikely]]
            segment_ = std::make_unique<Segment>();
        if (segment_->commands.empty()) segment_->lane = lane_;
        return *segment_;
    }
    // Finishes direct reads, by earlier submits, of buffers that the operations write.
    void finish_reads(std::span<const wye_operation> operations);
    void finish_reads(const wye_operation& operation);
    void finish_reads(const Buffer& target);
    void choose_lane(std::span<const wye_operation> operations);
    // Called before work that needs the compute lane: sends the uploads before it.
    [[nodiscard]] Result<void> compute();
    // Adds a recorded command to the segment.
    void add(Command& command);
    // The recording in progress, which is the segment's newest; starts one if there is none.
    Result<Recording*> recording();
    Result<void> end_recording();
    // Takes staged bytes. If the ring is full, first sends what is recorded so far.
    Result<StagedRange> stage(std::uint64_t size, std::uint64_t alignment);
    Result<void> send();
    // Whether the segment, which is all of the submit, may be sent later.
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
    bool divided_ = false;     // it began with large uploads, sent to the transfer lane
    bool timed_ = false;       // its segments have timestamps
    bool light_ = false;       // its operations may be kept
    bool repeatable_ = false;  // recipe_ describes the current recording
};

}  // namespace wye::vulkan
