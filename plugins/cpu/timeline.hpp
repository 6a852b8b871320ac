// SPDX-License-Identifier: Apache-2.0
//
// Timeline: the values of a queue, and the batches of its pending values. The queue's thread ends
// these batches; a value that the caller ran itself has already ended when it is added. The
// timeline refers to a batch until the batch's value is settled. It lives as long as its queue, or
// longer while batches of other queues wait for its values. All members are free-threaded unless
// stated.
#pragma once

#include "cpu/device.hpp"
#include "cpu/run/batch.hpp"
#include "cpu/run/progress.hpp"
#include "cpu/run/running.hpp"
#include "wye/sdk/timeline.hpp"

namespace wye::cpu {

// Submit: the part of a submit that the queue's thread runs. Event: the submit's value; 0: none.
using Submit = Batch*;
using Event = std::uint64_t;

class Queue;

class Timeline : public sdk::Timeline<Timeline, Submit, Event> {
  public:
    // Makes the timeline that is a member of `queue`. The last owner of the timeline frees the
    // queue.
    Timeline(Device& device, Queue& queue)
        : sdk::Timeline<Timeline, Submit, Event>(device.loss), queue_(queue) {}

    // Adds or removes an owner of the timeline. The queue is an owner until it is destroyed.
    void keep() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept;

    [[nodiscard]] bool idle() const { return log_.reached() == log_.newest(); }
    // Requests a stop of the submitted values in [first, last].
    void cancel(std::uint64_t first, std::uint64_t last);

    Running running;
    Progress progress;  // of the queue's thread

  private:
    friend sdk::Timeline<Timeline, Submit, Event>;
    static constexpr bool kWaitsWithLimit = true, kFailsLate = true;

    [[nodiscard]] Result<bool> has_ended(const Submit& submit);
    [[nodiscard]] Result<Event> event_of(Submit& submit);
    [[nodiscard]] std::optional<Error> settle(std::uint64_t value, Submit& submit);
    [[nodiscard]] sdk::WorkTimes times_of(const Submit& submit);
    [[nodiscard]] Result<bool> wait_for(Event event, std::uint64_t timeout_ns);
    [[nodiscard]] Result<void> finish();

    Queue& queue_;
    std::atomic<std::size_t> owners_{1};
};

}  // namespace wye::cpu

extern template class wye::sdk::Timeline<wye::cpu::Timeline, wye::cpu::Submit, wye::cpu::Event>;
