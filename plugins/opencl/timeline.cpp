// SPDX-License-Identifier: Apache-2.0
#include "opencl/timeline.hpp"

namespace wye::opencl {

Result<bool> Timeline::has_ended(const Submit& submit) { return events.has_ended(submit.last); }

Result<EventHandle> Timeline::event_of(Submit& submit) { return events.share(submit.last); }

std::optional<Error> Timeline::settle(std::uint64_t, Submit& submit) {
    return events.error_of(submit.last);
}

sdk::WorkTimes Timeline::times_of(const Submit& submit) {
    return events.times_of(submit.first, submit.last);
}

Result<bool> Timeline::wait_for(const EventHandle& event, std::uint64_t) {
    return events.wait(event);
}

Result<void> Timeline::finish() { return events.finish(); }

}  // namespace wye::opencl

template class wye::sdk::Timeline<wye::opencl::Timeline, wye::opencl::Submit,
                                  wye::opencl::EventHandle>;
