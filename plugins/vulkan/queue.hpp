// SPDX-License-Identifier: Apache-2.0
//
// One in-order queue. `submit` and destruction by one thread at a time; poll, wait and timing from
// any thread.
//
// Where the host can reach a buffer's memory at full speed, uploads that begin a submit to an idle
// queue and downloads that end one are plain copies by the host; all others go through the staging
// ring. A submit that needs nothing else never enters the driver.
#pragma once

#include <memory>
#include <vector>

#include "vulkan/device.hpp"
#include "vulkan/timeline.hpp"

namespace wye::vulkan {

class Queue {
  public:
    [[nodiscard]] static Result<std::unique_ptr<Queue>> create(OpenDevice& device, bool timing);
    ~Queue();
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    // Everything or nothing is queued. When the driver refuses a later part of transfers that are
    // larger than the staging ring, the queue is poisoned. Blocks only where that ring is full.
    [[nodiscard]] Result<std::uint64_t> submit(std::span<const wye_operation> operations,
                                               std::span<const wye_event> waits);
    [[nodiscard]] Timeline& timeline() { return *timeline_; }
    [[nodiscard]] const OpenDevice& device() const { return device_; }

  private:
    Queue(OpenDevice& device, NativeQueue& native, std::unique_ptr<Timeline> timeline)
        : device_(device), native_(native), timeline_(std::move(timeline)) {}

    Result<void> gather_waits(std::span<const wye_event> waits);
    Result<void> record_all(std::span<const wye_operation> operations);
    Result<void> record(const wye_operation& op);
    Result<void> record_fill(const wye_fill_op& op);
    Result<void> record_upload(const wye_transfer_op& op);
    Result<void> record_download(const wye_transfer_op& op);
    // The recording in progress; begun when it is first needed.
    Result<Recording*> recording();
    // Staged bytes; sends what is recorded so far when the ring is full.
    Result<StagedRange> stage(std::uint64_t size, std::uint64_t alignment);
    Result<void> send();
    void abandon();

    OpenDevice& device_;
    NativeQueue& native_;
    std::unique_ptr<Timeline> timeline_;

    // Of the submit in progress.
    std::unique_ptr<Recording> recording_;
    std::vector<VkSemaphore> wait_semaphores_;
    std::vector<std::uint64_t> wait_segments_;
    std::vector<HostCopy> before_, staged_reads_, after_;
    Recipe recipe_;
    bool sent_ = false;
};

extern const wye_queue_table kQueueTable;

[[nodiscard]] inline Queue& queue_of(wye_queue_object* object) {
    return *reinterpret_cast<Queue*>(object);
}

}  // namespace wye::vulkan
