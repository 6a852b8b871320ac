// SPDX-License-Identifier: Apache-2.0
#include "opencl/timeline.hpp"

#include "opencl/status.hpp"

namespace wye::opencl {

Result<bool> Timeline::has_ended(const Submit& submit) {
    const EventState now = state_of(device_.driver, submit.last.get());
    WYE_TRY(device_.check(now.status, "clGetEventInfo"));
    return now.state <= CL_COMPLETE;
}

Result<EventHandle> Timeline::event_of(const Submit& submit) {
    const cl_int status = device_.driver.clRetainEvent(submit.last.get());
    WYE_TRY(device_.check(status, "clRetainEvent"));
    return EventHandle(device_.driver, submit.last.get());
}

std::optional<Error> Timeline::settle(std::uint64_t, const Submit& submit) {
    const EventState now = state_of(device_.driver, submit.last.get());
    if (now.status != CL_SUCCESS) return device_.failed(now.status, "clGetEventInfo");
    if (now.state < 0) return device_.failed(now.state, "a queued operation");
    return std::nullopt;
}

std::uint64_t Timeline::spent_ns(const Submit& submit) const {
    const EventHandle& first = submit.first ? submit.first : submit.last;
    return opencl::spent_ns(device_.driver, first.get(), submit.last.get());
}

// A failed command is the error of its own value, not of the wait.
Result<bool> Timeline::wait_for(const EventHandle& event, std::uint64_t) {
    const cl_event raw = event.get();
    const cl_int status = device_.driver.clWaitForEvents(1, &raw);
    if (status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) return true;
    WYE_TRY(device_.check(status, "waiting for the queue"));
    return true;
}

Result<void> Timeline::finish() {
    const cl_int status = device_.driver.clFinish(queue_);
    return device_.check(status, "waiting for the queue");
}

}  // namespace wye::opencl

template class wye::sdk::Timeline<wye::opencl::Timeline, wye::opencl::Submit,
                                  wye::opencl::EventHandle>;
