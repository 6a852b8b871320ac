// SPDX-License-Identifier: Apache-2.0
//
// The submit in progress of a queue: what it waits for, the commands recorded so far, and the
// copies that the host makes before and after them. By one thread at a time.
//
// Where the host can reach a buffer's memory at full speed, uploads that begin a submit to an idle
// queue and downloads that end one are plain copies by the host; all others go through the staging
// ring. A submit that needs nothing else never enters the driver. One whose commands equal those of
// an earlier one sends that command buffer again.
#pragma once

#include <vector>

#include "vulkan/commands/segments.hpp"

namespace wye::vulkan {

// What a submit has sent: its segments; none when last is before first.
struct Submit {
    std::uint64_t first = 0, last = 0;
};

class Submission {
  public:
    Submission(Device& device, Segments& segments) : device_(device), segments_(segments) {}

    // What is still to be read from a buffer itself is read before anything may write it.
    [[nodiscard]] Result<void> begin();
    // What the other queue reads back from a buffer itself is out before this one writes.
    [[nodiscard]] Result<void> wait_for(const SegmentWait& event);
    // The operations that are to be recorded; the host does the others, or an earlier command
    // buffer.
    [[nodiscard]] std::span<const wye_operation> plan(std::span<const wye_operation> operations);
    [[nodiscard]] Result<void> dispatch(const Program& program, const wye_dispatch_op& op);
    [[nodiscard]] Result<void> copy(const Buffer& source, const Buffer& target,
                                    const wye_copy_op& op);
    [[nodiscard]] Result<void> fill(const Buffer& target, const wye_fill_op& op);
    [[nodiscard]] Result<void> upload(const Buffer& target, const wye_transfer_op& op);
    [[nodiscard]] Result<void> download(const Buffer& source, const wye_transfer_op& op);
    // Sends the rest.
    [[nodiscard]] Result<Submit> end();
    // Forgets what was not sent.
    void abandon();

    // Some of it was.
    [[nodiscard]] bool sent() const { return segments_.newest() >= first_; }

  private:
    // The recording in progress; begun when it is first needed.
    Result<Recording*> recording();
    // Staged bytes; sends what is recorded so far when the ring is full.
    Result<StagedRange> stage(std::uint64_t size, std::uint64_t alignment);
    Result<void> send();

    Device& device_;
    Segments& segments_;
    std::uint64_t first_ = 1;  // the first segment that it sends
    std::vector<SegmentWait> waits_;
    std::unique_ptr<Recording> recording_;
    std::vector<sdk::HostCopy> before_, staged_reads_, after_;
    Recipe recipe_;
    bool repeatable_ = false;  // the recipe is that of what is being recorded
};

}  // namespace wye::vulkan
