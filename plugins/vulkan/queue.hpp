// SPDX-License-Identifier: Apache-2.0
//
// One in-order queue. `submit` and destruction by one thread at a time; poll, wait and timing from
// any thread.
//
// Where the host can reach a buffer's memory at full speed, uploads that begin a submit to an idle
// queue and downloads that end one are plain copies by the host; all others go through the staging
// ring. A submit that needs nothing else never enters the driver. One whose commands equal those of
// an earlier one sends that command buffer again.
#pragma once

#include <vector>

#include "vulkan/timeline.hpp"
#include "wye/sdk/queue.hpp"

namespace wye::vulkan {

class Queue : public sdk::InOrderQueue<Queue> {
  public:
    static constexpr std::string_view kPlugin = Plugin::kPlugin;

    [[nodiscard]] static Result<std::unique_ptr<Queue>> create(Device& device, bool timing);
    ~Queue();

    [[nodiscard]] Device& device() { return device_; }
    [[nodiscard]] Timeline& timeline() { return timeline_; }

  private:
    friend InOrderQueue;

    Queue(Device& device, SharedQueue& shared, SemaphoreHandle handle, bool timing)
        : device_(device), shared_(shared), timeline_(device, shared, std::move(handle), timing) {}
    Result<void> begin();
    Result<void> wait_for(Queue& other, std::uint64_t value);
    std::span<const wye_operation> plan(std::span<const wye_operation> operations);
    Result<void> dispatch(const wye_dispatch_op& op);
    Result<void> copy(const wye_copy_op& op);
    Result<void> fill(const wye_fill_op& op);
    Result<void> upload(const wye_transfer_op& op);
    Result<void> download(const wye_transfer_op& op);
    Result<std::uint64_t> end();
    void drain();
    void abandon();

    // The recording in progress; begun when it is first needed.
    Result<Recording*> recording();
    // Staged bytes; sends what is recorded so far when the ring is full.
    Result<StagedRange> stage(std::uint64_t size, std::uint64_t alignment);
    Result<void> send();

    Device& device_;
    SharedQueue& shared_;
    Timeline timeline_;

    // Of the submit in progress.
    std::vector<VkSemaphore> wait_semaphores_;
    std::vector<std::uint64_t> wait_segments_;
    std::unique_ptr<Recording> recording_;
    std::vector<sdk::HostCopy> before_, staged_reads_, after_;
    Recipe recipe_;
    bool repeatable_ = false;  // the recipe is that of what is being recorded
};

}  // namespace wye::vulkan

extern template class wye::sdk::InOrderQueue<wye::vulkan::Queue>;
