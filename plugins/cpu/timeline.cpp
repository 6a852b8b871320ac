// SPDX-License-Identifier: Apache-2.0
#include "cpu/timeline.hpp"

namespace wye::cpu {

void Timeline::cancel(std::uint64_t first, std::uint64_t last) {
    // The order matters: if the submitting thread hands a value over to the queue's thread after
    // the first step, the second step finds the value.
    running.cancel(first, last);
    visit_pending(first, last, [](std::uint64_t, Submit& submit) { submit->cancel(); });
}

Result<bool> Timeline::has_ended(const Submit& submit) {
    return progress.has_ended(submit->value());
}

Result<Event> Timeline::event_of(Submit& submit) { return submit->value(); }

std::optional<Error> Timeline::settle(std::uint64_t, Submit& submit) {
    return submit->take_error();
}

sdk::WorkTimes Timeline::times_of(const Submit& submit) { return submit->times(); }

Result<bool> Timeline::wait_for(Event event, std::uint64_t timeout_ns) {
    return progress.wait(event, timeout_ns);
}

Result<void> Timeline::finish() {
    WYE_ASSIGN(const Event last, event_for(newest()));
    if (last != 0) (void)progress.wait(last, UINT64_MAX);
    return {};
}

}  // namespace wye::cpu

template class wye::sdk::Timeline<wye::cpu::Timeline, wye::cpu::Submit, wye::cpu::Event>;
