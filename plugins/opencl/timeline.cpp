// SPDX-License-Identifier: Apache-2.0
#include "opencl/timeline.hpp"

namespace wye::opencl {

Result<bool> Timeline::has_ended(Submit& submit) { return events.has_ended(submit); }

Result<void> Timeline::mark(Submit& submit) { return events.mark(submit); }

Result<EventHandle> Timeline::event_of(Submit& submit) { return events.share(submit); }

std::optional<Error> Timeline::settle(std::uint64_t, Submit& submit) {
    return events.error_of(submit);
}

sdk::WorkTimes Timeline::times_of(const Submit& submit) {
    return events.times_of(submit.first, submit.last);
}

Result<bool> Timeline::wait_for(const EventHandle& event, std::uint64_t) {
    return events.wait(event);
}

Result<EventHandle> Timeline::end_of(std::uint64_t value) {
    WYE_ASSIGN(EventHandle event, event_for(value));
    const sdk::Lock lock(marking_);
    if (!event || follows_application_) return event;
    return events.behind(event);
}

void Timeline::follow_application() {
    const sdk::Lock lock(marking_);
    follows_application_.store(true, std::memory_order_release);
}

Result<void> Timeline::finish() { return events.finish(); }

}  // namespace wye::opencl

template class wye::sdk::Timeline<wye::opencl::Timeline, wye::opencl::Submit,
                                  wye::opencl::EventHandle>;
