// SPDX-License-Identifier: Apache-2.0
#include "cuda/timeline.hpp"

namespace wye::cuda {

Result<bool> Timeline::has_ended(Submit& submit) { return events.has_ended(submit); }

Result<void> Timeline::mark(Submit& submit) { return events.mark(submit, EventKind::Quick); }

Result<EventRef> Timeline::event_of(Submit& submit) {
    return events.share(submit, EventKind::Quick);
}

Result<EventRef> Timeline::sleep_event_of(Submit& submit) {
    return events.share(submit, EventKind::Blocking);
}

std::optional<Error> Timeline::settle(std::uint64_t value, Submit& submit) {
    sdk::run(submit.copies);
    staging.release(value);
    events.give_back(submit);
    return std::nullopt;
}

sdk::WorkTimes Timeline::times_of(const Submit& submit) {
    return events.times_of(submit.first, submit.last);
}

Result<bool> Timeline::wait_for(const EventRef& event, std::uint64_t) { return events.wait(event); }

Result<void> Timeline::finish() { return events.finish(); }

}  // namespace wye::cuda

template class wye::sdk::Timeline<wye::cuda::Timeline, wye::cuda::Submit, wye::cuda::EventRef>;
