// SPDX-License-Identifier: Apache-2.0
#include "cuda/timeline.hpp"

namespace wye::cuda {

Result<bool> Timeline::has_ended(const Submit& submit) { return events.has_ended(submit.last); }

Result<EventRef> Timeline::event_of(Submit& submit) { return events.share(submit.last); }

std::optional<Error> Timeline::settle(std::uint64_t value, Submit& submit) {
    sdk::run(submit.copies);
    staging.release(value);
    const bool timed = submit.first != nullptr;
    events.give_back(std::move(submit.first), timed);
    events.give_back(std::move(submit.last), timed);
    return std::nullopt;
}

sdk::WorkTimes Timeline::times_of(const Submit& submit) {
    return events.times_of(submit.first, submit.last);
}

Result<bool> Timeline::wait_for(const EventRef& event, std::uint64_t) { return events.wait(event); }

Result<void> Timeline::finish() { return events.finish(); }

}  // namespace wye::cuda

template class wye::sdk::Timeline<wye::cuda::Timeline, wye::cuda::Submit, wye::cuda::EventRef>;
