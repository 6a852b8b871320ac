// SPDX-License-Identifier: Apache-2.0
#include "cpu/timeline.hpp"

namespace wye::cpu {

void Timeline::cancel(std::uint64_t first, std::uint64_t last) {
    // In this order, so that one of the two finds a value that meanwhile becomes a batch.
    running.cancel(first, last);
    visit_pending(first, last, [](std::uint64_t value, Submit& submit) { submit->cancel(value); });
}

Result<bool> Timeline::has_ended(const Submit& submit) { return submit->ended(); }

Result<Submit> Timeline::event_of(Submit& submit) { return submit; }

std::optional<Error> Timeline::settle(std::uint64_t, Submit& submit) {
    return submit->take_error();
}

sdk::WorkTimes Timeline::times_of(const Submit& submit) { return submit->times(); }

Result<bool> Timeline::wait_for(const Submit& event, std::uint64_t timeout_ns) {
    return event->wait_end(timeout_ns);
}

Result<void> Timeline::finish() {
    WYE_ASSIGN(const Submit last, event_for(newest()));
    if (last) (void)last->wait_end(UINT64_MAX);
    return {};
}

}  // namespace wye::cpu

template class wye::sdk::Timeline<wye::cpu::Timeline, wye::cpu::Submit, wye::cpu::Submit>;
