// SPDX-License-Identifier: Apache-2.0
//
// Timeline: the values of a queue. The newest submit, unless it is timed, has no event at first:
// polls read its mark or query the stream. It gets an event when another submit follows, when
// another queue waits for it, or when a thread sleeps until it has ended. Small downloads arrive in
// staging memory; the thread that finds their value reached copies them to the caller. All members
// are free-threaded unless stated.
#pragma once

#include "cuda/context/events.hpp"
#include "cuda/context/staging.hpp"
#include "wye/sdk/timeline.hpp"

namespace wye::cuda {

class Timeline : public sdk::Timeline<Timeline, Submit, EventRef> {
  public:
    Timeline(Device& device, CUstream queue)
        : sdk::Timeline<Timeline, Submit, EventRef>(device.loss, device.plugin.spin_ns),
          staging(device.context()),
          events(device, queue) {}

    Staging staging;
    Events events;

    [[nodiscard, gnu::always_inline]] Current enter() const { return events.enter(); }

  private:
    friend sdk::Timeline<Timeline, Submit, EventRef>;
    static constexpr bool kWaitsWithLimit = false, kFailsLate = false;

    [[nodiscard]] Result<bool> has_ended(Submit& submit);
    [[nodiscard]] Result<void> mark(Submit& submit);
    [[nodiscard]] Result<EventRef> event_of(Submit& submit);
    [[nodiscard]] Result<EventRef> sleep_event_of(Submit& submit);
    [[nodiscard]] std::optional<Error> settle(std::uint64_t value, Submit& submit);
    [[nodiscard]] sdk::WorkTimes times_of(const Submit& submit);
    [[nodiscard]] Result<bool> wait_for(const EventRef& event, std::uint64_t timeout_ns);
    [[nodiscard]] Result<void> finish();
};

}  // namespace wye::cuda

extern template class wye::sdk::Timeline<wye::cuda::Timeline, wye::cuda::Submit,
                                         wye::cuda::EventRef>;
