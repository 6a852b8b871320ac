// SPDX-License-Identifier: Apache-2.0
//
// Timeline: the values of a queue, and the OpenCL events of its pending submits. Waiting for the
// newest value uses clFinish, which is the cheapest wait of most drivers; other waits use events. A
// submit may have no event until one is needed; a marker after it then serves as its event. All
// members are free-threaded unless stated.
#pragma once

#include <atomic>

#include "opencl/context/events.hpp"
#include "opencl/quirks.hpp"
#include "wye/sdk/timeline.hpp"

namespace wye::opencl {

class Timeline : public sdk::Timeline<Timeline, Submit, EventHandle> {
  public:
    Timeline(Device& device, const NativeQueues& queue)
        : sdk::Timeline<Timeline, Submit, EventHandle>(device.loss),
          events(device, queue),
          finishes_(device.plugin.few_events.value_or(!pocl_finish_joins(device.info))) {}

    Events events;

    // Returns an event that another queue can wait for, complete once the work of `value` has ended
    // or failed. Empty: the work has already ended. Usually the event is a marker behind all work
    // so far of this queue, so it may be complete only after later work than that of `value`. After
    // `follow_application`, later work may wait for the application, which may wait for the other
    // queue. So the result is then the event of `value` itself, which fails if the work fails.
    [[nodiscard]] Result<EventHandle> end_of(std::uint64_t value);
    // Called before work is queued that waits for an event of the application.
    void follow_application();

  private:
    friend sdk::Timeline<Timeline, Submit, EventHandle>;
    static constexpr bool kWaitsWithLimit = false, kFailsLate = true;

    [[nodiscard]] Result<bool> has_ended(Submit& submit);
    [[nodiscard]] Result<void> mark(Submit& submit);
    [[nodiscard]] Result<EventHandle> event_of(Submit& submit);
    [[nodiscard]] std::optional<Error> settle(std::uint64_t value, Submit& submit);
    [[nodiscard]] sdk::WorkTimes times_of(const Submit& submit);
    [[nodiscard]] Result<bool> wait_for(const EventHandle& event, std::uint64_t timeout_ns);
    // clFinish also waits for later work of the queue. If that work waits for an event
    // that the application sets later on the waiting thread, clFinish never returns.
    [[nodiscard]] bool may_finish() const {
        return finishes_ && !follows_application_.load(std::memory_order_acquire);
    }
    [[nodiscard]] Result<void> finish();

    sdk::Mutex marking_;
    const bool finishes_;                            // false: quirk pocl-finish-joins
    std::atomic<bool> follows_application_ = false;  // set under marking_
};

}  // namespace wye::opencl

extern template class wye::sdk::Timeline<wye::opencl::Timeline, wye::opencl::Submit,
                                         wye::opencl::EventHandle>;
