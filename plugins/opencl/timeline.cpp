// SPDX-License-Identifier: Apache-2.0
#include "opencl/timeline.hpp"

#include "opencl/status.hpp"

namespace wye::opencl {

std::uint64_t Timeline::add(EventHandle first, EventHandle last) {
    const sdk::Lock lock(mutex_);
    entry(log_.newest() + 1) = {std::move(first), std::move(last)};
    return log_.add();
}

Result<EventHandle> Timeline::event_for(std::uint64_t value) {
    const sdk::Lock lock(mutex_);
    if (value <= log_.reached() || value > log_.newest()) return EventHandle();
    const EventHandle& event = entry(std::max(value, oldest())).last;
    WYE_TRY(device_.check(device_.driver.clRetainEvent(event.get()), "clRetainEvent"));
    return EventHandle(device_.driver, event.get());
}

Result<bool> Timeline::ended(std::uint64_t value) {
    const Result<EventHandle> event = event_for(value);
    if (!event.ok()) return failed(value, event.error());
    const EventState now = *event ? state_of(device_.driver, event->get()) : EventState();
    if (now.status != CL_SUCCESS)
        return failed(value, device_.failed(now.status, "clGetEventInfo"));
    if (now.state > CL_COMPLETE) return false;
    const sdk::Lock lock(mutex_);
    collect(value);
    return true;
}

Result<bool> Timeline::await(std::uint64_t value, std::uint64_t timeout_ns) {
    if (timeout_ns != UINT64_MAX)
        return ask_at_intervals(Clock::now(), timeout_ns, [&] { return ended(value); });
    cl_int status = CL_SUCCESS;
    if (value == log_.newest()) {
        status = device_.driver.clFinish(queue_);
    } else {
        const Result<EventHandle> event = event_for(value);
        if (!event.ok()) return failed(value, event.error());
        const cl_event raw = event->get();
        if (*event) status = device_.driver.clWaitForEvents(1, &raw);
        if (status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) status = CL_SUCCESS;
    }
    if (status != CL_SUCCESS) return failed(value, device_.failed(status, "waiting for the queue"));
    const sdk::Lock lock(mutex_);
    collect(value);
    return true;
}

// Everything up to `value` has ended: sees how, then lets go of the events.
void Timeline::collect(std::uint64_t value) {
    const std::uint64_t last = std::min(value, log_.newest());
    for (std::uint64_t v = std::max(log_.reached() + 1, oldest()); v <= last; ++v) {
        const Entry ended = std::exchange(entry(v), Entry());
        const EventState how = state_of(device_.driver, ended.last.get());
        if (how.status != CL_SUCCESS) {
            log_.fail(v, device_.failed(how.status, "clGetEventInfo"));
        } else if (how.state < 0) {
            log_.fail(v, device_.failed(how.state, "a queued operation"));
        } else if (log_.keeps_times()) {
            log_.keep_time(v, spent_ns(ended));
        }
    }
    log_.reach(value);
}

std::uint64_t Timeline::oldest() const {
    const std::uint64_t newest = log_.newest();
    return newest < kKept ? 1 : newest - kKept + 1;
}

std::uint64_t Timeline::spent_ns(const Entry& ended) const {
    const Driver& driver = device_.driver;
    const cl_event last = ended.last.get();
    const cl_event first = ended.first ? ended.first.get() : last;
    cl_ulong start = 0;
    cl_ulong end = 0;
    if (driver.clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof start, &start,
                                       nullptr) != CL_SUCCESS ||
        driver.clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr) !=
            CL_SUCCESS)
        return 0;
    return end > start ? end - start : 0;
}

// Nobody knows how far the work is, and whoever hears of an error takes its memory back: it has
// ended once the queue is empty.
Error Timeline::failed(std::uint64_t value, Error error) {
    (void)device_.driver.clFinish(queue_);
    log_.fail_pending(std::move(error));
    const sdk::Lock lock(mutex_);
    collect(value);
    return *log_.failure(value);
}

}  // namespace wye::opencl

template class wye::sdk::Timeline<wye::opencl::Timeline>;
