// SPDX-License-Identifier: Apache-2.0
#include "cuda/timeline.hpp"

namespace wye::cuda {

// Only the newest submit may have no event: then the stream's state is that of its work.
Result<bool> Timeline::has_ended(const Submit& submit) {
    const CUresult now = submit.last ? device_.driver.cuEventQuery(submit.last->get())
                                     : device_.driver.cuStreamQuery(queue_);
    if (now == CUDA_ERROR_NOT_READY) return false;
    WYE_TRY(device_.check(now, "work on the queue"));
    return true;
}

Result<EventRef> Timeline::event_of(Submit& submit) {
    if (submit.last) return submit.last;
    WYE_ASSIGN(submit.last, events.record());
    return submit.last;
}

std::optional<Error> Timeline::settle(std::uint64_t value, Submit& submit) {
    sdk::run(submit.copies);
    staging.release(value);
    events.give_back(std::move(submit.first));
    events.give_back(std::move(submit.last));
    return std::nullopt;
}

std::uint64_t Timeline::spent_ns(const Submit& submit) const {
    return events.spent_ns(submit.first, submit.last);
}

Result<bool> Timeline::wait_for(const EventRef& event, std::uint64_t) {
    const CUresult status = device_.driver.cuEventSynchronize(event->get());
    WYE_TRY(device_.check(status, "work on the queue"));
    return true;
}

Result<void> Timeline::finish() {
    if (context_.lost.load(std::memory_order_acquire)) return context_.gone("work on the queue");
    const CUresult status = device_.driver.cuStreamSynchronize(queue_);
    return device_.check(status, "work on the queue");
}

}  // namespace wye::cuda

template class wye::sdk::Timeline<wye::cuda::Timeline, wye::cuda::Submit, wye::cuda::EventRef>;
