// SPDX-License-Identifier: Apache-2.0
//
// Queue: an in-order queue. One thread at a time may submit or destroy the queue; any thread may
// poll, wait and read times. commands/submission.hpp records and sends submits.
#pragma once

#include "vulkan/commands/submission.hpp"
#include "vulkan/timeline.hpp"
#include "wye/sdk/queue.hpp"
#include "wye/sdk/queue_slots.hpp"

namespace wye::vulkan {

class Queue : public sdk::InOrderQueue<Queue> {
  public:
    static constexpr std::string_view kPlugin = Plugin::kPlugin;
    static constexpr std::uint32_t kLaunchFlags = WYE_LAUNCH_INDIRECT;
    static constexpr bool kWaitsNative = true;

    [[nodiscard]] static Result<std::unique_ptr<Queue>> create(Device& device,
                                                               const wye_queue_desc& wanted);
    ~Queue() { timeline_.drain(); }

    [[nodiscard]] Device& device() { return device_; }
    [[nodiscard]] Timeline& timeline() { return timeline_; }
    // Submits a command whose command buffer can be used unchanged. False: nothing was submitted.
    [[nodiscard]] bool replay(const wye_execute_op& op, std::uint64_t value);
    // Adds the handles for the extension wye.native_handle.
    [[nodiscard]] Result<void> native(sdk::NativeValues& out) const {
        out.add("VkQueue", timeline_.segments.queue());
        out.add("queue_family", device_.context().family(Lane::Compute));
        return {};
    }

  private:
    friend InOrderQueue;

    Queue(Device& device, SemaphoreHandle handle, const sdk::QueueGrant& granted)
        : InOrderQueue(granted),
          device_(device),
          timeline_(device, device.context().queue(granted), std::move(handle),
                    granted.kind == WYE_QUEUE_TRANSFER),
          submission_(device, timeline_.segments) {}
    Result<void> begin();
    Result<void> wait_for(Timeline& other, std::uint64_t value);
    Result<void> order_after(Timeline& other, std::uint64_t value);
    Result<void> wait_native(const wye_native_handle& event);
    std::span<const wye_operation> plan(std::span<const wye_operation> operations);
    Result<void> dispatch(const wye_dispatch_op& op);
    Result<void> copy(const wye_copy_op& op);
    Result<void> fill(const wye_fill_op& op);
    Result<void> upload(const wye_transfer_op& op);
    Result<void> download(const wye_transfer_op& op);
    Result<void> execute(const wye_execute_op& op);
    Result<void> end();
    void abandon() noexcept;

    // Whether part of the submit was already sent or kept, as a segment of its own. Replaces the
    // function of InOrderQueue.
    [[nodiscard]] bool begun() const noexcept { return submission_.sent(); }

    Device& device_;
    Timeline timeline_;

    // State of the submit in progress.
    Submission submission_;
};

}  // namespace wye::vulkan

extern template class wye::sdk::InOrderQueue<wye::vulkan::Queue>;
extern template wye_status wye::sdk::QueueSlots<wye::vulkan::Queue>::submit(wye_queue_object*,
                                                                            const wye_submission*,
                                                                            wye_error**);
