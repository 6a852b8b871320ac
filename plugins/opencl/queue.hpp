// SPDX-License-Identifier: Apache-2.0
//
// Queue: an in-order queue. One thread at a time may submit or destroy the queue; any thread may
// poll, wait and read times.
#pragma once

#include <utility>

#include "opencl/context/staged_copies.hpp"
#include "opencl/timeline.hpp"
#include "wye/sdk/queue.hpp"
#include "wye/sdk/queue_slots.hpp"

namespace wye::opencl {

class Queue : public sdk::InOrderQueue<Queue> {
  public:
    static constexpr std::string_view kPlugin = Plugin::kPlugin;
    static constexpr bool kWaitsNative = true;

    [[nodiscard]] static Result<std::unique_ptr<Queue>> create(Device& device,
                                                               const wye_queue_desc& wanted);
    ~Queue() { timeline_.drain(); }

    [[nodiscard]] Device& device() { return device_; }
    [[nodiscard]] Timeline& timeline() { return timeline_; }
    // Submits a command of one dispatch, if the queue is idle, or has enough pending submits that
    // they share events. False: nothing was submitted.
    [[nodiscard]] bool replay(const wye_execute_op& op, std::uint64_t value);
    // Adds the handles for the extension wye.native_handle.
    [[nodiscard]] Result<void> native(sdk::NativeValues& out) const {
        out.add("cl_command_queue", handle_.untimed());
        return {};
    }

  private:
    friend InOrderQueue;
    friend StagedCopies;

    Queue(Device& device, QueueHandle handle, const sdk::QueueGrant& granted)
        : InOrderQueue(granted),
          device_(device),
          handle_(device, std::move(handle), granted.priority),
          timeline_(device, handle_),
          staged_copies_(device) {}
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

    [[nodiscard]] static std::uint64_t enqueues(const wye_operation& op);
    // The wait list and the event of the next driver command.
    [[gnu::always_inline]] inline Order next() {
        Order out;
        const bool first = std::exchange(first_, false);
        if (first) [[unlikely]]
            out = waits_.order();
        if (left_ != 0 && --left_ == 0) [[unlikely]]
            order_last(out);
        else if (first && timed())
            out.event = submit_.first.receive(device_.driver);
        return out;
    }
    // Takes the event of the last driver command as the submit's event. If the submit needs no
    // event yet, notes the native queue for a later marker.
    void order_last(Order& out);

    Device& device_;
    NativeQueues handle_;
    Timeline timeline_;
    StagedCopies staged_copies_;

    // The members below are the state of the submit in progress.
    EventWaits waits_;
    Submit submit_;
    bool needs_event_ = true;
    bool first_ = true;                    // next() was not called yet
    const wye_operation* last_ = nullptr;  // the last operation with driver commands
    std::uint64_t left_ = 0;               // driver commands left in `last_`; 0 before `last_`
};

}  // namespace wye::opencl

extern template class wye::sdk::InOrderQueue<wye::opencl::Queue>;
extern template wye_status wye::sdk::QueueSlots<wye::opencl::Queue>::submit(wye_queue_object*,
                                                                            const wye_submission*,
                                                                            wye_error**);
