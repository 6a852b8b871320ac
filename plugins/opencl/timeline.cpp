// SPDX-License-Identifier: Apache-2.0
#include "opencl/timeline.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "opencl/status.hpp"

namespace wye::opencl {
namespace {

using Clock = std::chrono::steady_clock;

Error not_ready(std::uint64_t value) {
    return {Code::NOT_READY, "value " + std::to_string(value) + " is not reached yet",
            "Fix: wait, or ask again later"};
}

}  // namespace

[[gnu::hot]] std::uint64_t Timeline::add(Event first, Event last) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t value = newest_.load(std::memory_order_relaxed) + 1;
    Entry& added = entry(value);
    added.last = std::move(last);
    added.first = keep_first_ ? std::move(first) : Event();
    newest_.store(value, std::memory_order_release);
    return value;
}

void Timeline::poison(Error error) {
    const std::lock_guard lock(mutex_);
    if (error_) return;
    error_ = std::move(error);
    poisoned_at_.store(newest_.load() + 1);
}

Error Timeline::failure() {
    const std::lock_guard lock(mutex_);
    return *error_;
}

std::uint64_t Timeline::oldest() const {
    const std::uint64_t newest = newest_.load(std::memory_order_relaxed);
    return newest < kKept ? 1 : newest - kKept + 1;
}

// Everything up to `value` has ended: see how, then let go of the events.
[[gnu::hot]] void Timeline::reached(std::uint64_t value) {
    const std::uint64_t known = reached_.load(std::memory_order_relaxed);
    const std::uint64_t last = std::min(value, newest_.load(std::memory_order_relaxed));
    for (std::uint64_t v = std::max(known + 1, oldest()); v <= last; ++v) {
        Entry& ended = entry(v);
        const EventState how = error_ ? EventState() : state_of(driver_, ended.last.get());
        if (how.status != CL_SUCCESS || how.state < 0) {
            error_ = how.status != CL_SUCCESS ? cl_error(how.status, "clGetEventInfo", "")
                                              : cl_error(how.state, "a queued operation", "");
            poisoned_at_.store(v);
        }
        if (!keep_first_) ended.last = Event();
    }
    if (known < value) reached_.store(value, std::memory_order_release);
}

Result<Event> Timeline::retained(const Event& event) {
    if (!event) return Event();
    const cl_int status = driver_.clRetainEvent(event.get());
    if (status != CL_SUCCESS) return cl_error(status, "clRetainEvent", "");
    return Event(driver_, event.get());
}

Result<Event> Timeline::event_for(std::uint64_t value) {
    if (value <= reached_.load(std::memory_order_acquire)) return Event();
    const std::lock_guard lock(mutex_);
    if (value > newest_.load(std::memory_order_relaxed)) return Event();
    return retained(entry(std::max(value, oldest())).last);
}

// Nobody knows how far the work is, and whoever hears of an error takes its memory back: it has
// ended once the queue is empty.
Result<void> Timeline::fail(std::uint64_t value, Error error) {
    (void)driver_.clFinish(queue_);
    const std::lock_guard lock(mutex_);
    if (!error_) {
        error_ = std::move(error);
        poisoned_at_.store(reached_.load() + 1);
    }
    reached(value);
    return *error_;
}

Result<void> Timeline::poll(std::uint64_t value) {
    if (poisoned(value)) return failure();
    if (value <= reached_.load(std::memory_order_acquire)) return {};
    const Result<Event> event = event_for(value);
    if (!event.ok()) return fail(value, event.error());
    if (*event) {
        const EventState now = state_of(driver_, event->get());
        if (now.status != CL_SUCCESS)
            return fail(value, cl_error(now.status, "clGetEventInfo", ""));
        if (now.state > CL_COMPLETE) return not_ready(value);
    }
    const std::lock_guard lock(mutex_);
    reached(value);
    if (error_ && value >= poisoned_at_.load()) return *error_;
    return {};
}

[[gnu::hot]] Result<void> Timeline::wait(std::uint64_t value, std::uint64_t timeout_ns) {
    if (poisoned(value)) return failure();
    if (value <= reached_.load(std::memory_order_acquire)) return {};
    if (timeout_ns != UINT64_MAX) {
        const auto end =
            Clock::now() + std::chrono::nanoseconds(std::min<std::uint64_t>(
                               timeout_ns, std::uint64_t{1} << 62U));  // far beyond any clock
        std::chrono::nanoseconds pause(2000);
        for (;;) {
            Result<void> now = poll(value);
            if (now.ok() || now.error().code != Code::NOT_READY) return now;
            const auto left = end - Clock::now();
            if (left <= left.zero())
                return Error(Code::TIMEOUT,
                             "value " + std::to_string(value) + " was not reached within " +
                                 std::to_string(timeout_ns) + " ns",
                             "Fix: wait longer; the work goes on");
            std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(pause, left));
            pause = std::min(pause * 2, std::chrono::nanoseconds(500000));
        }
    }
    const std::uint64_t newest = newest_.load(std::memory_order_acquire);
    cl_int status = CL_SUCCESS;
    const std::uint64_t end = value;
    if (value == newest) {
        status = driver_.clFinish(queue_);
    } else {
        const Result<Event> event = event_for(value);
        if (!event.ok()) return fail(value, event.error());
        const cl_event raw = event->get();
        if (raw != nullptr) status = driver_.clWaitForEvents(1, &raw);
        if (status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) status = CL_SUCCESS;
    }
    const std::lock_guard lock(mutex_);
    if (status != CL_SUCCESS && !error_) {
        error_ = cl_error(status, "waiting for the queue", "");
        poisoned_at_.store(reached_.load() + 1);
    }
    reached(end);
    if (error_ && value >= poisoned_at_.load()) return *error_;
    return {};
}

Result<std::uint64_t> Timeline::device_ns(std::uint64_t value) {
    const std::lock_guard lock(mutex_);
    const bool kept = value >= oldest() && value <= newest_.load(std::memory_order_relaxed);
    if (!kept || !entry(value).last)
        return Error(Code::UNSUPPORTED, "times of value " + std::to_string(value) + " are not kept",
                     "Fix: create the queue with timing, and ask within " + std::to_string(kKept) +
                         " submits");
    const cl_event last = entry(value).last.get();
    const cl_event first = entry(value).first ? entry(value).first.get() : last;
    cl_ulong start = 0;
    cl_ulong end = 0;
    cl_int status = driver_.clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof start,
                                                    &start, nullptr);
    if (status == CL_SUCCESS)
        status = driver_.clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof end, &end,
                                                 nullptr);
    if (status != CL_SUCCESS) return cl_error(status, "clGetEventProfilingInfo", "");
    return end > start ? end - start : std::uint64_t{0};
}

}  // namespace wye::opencl
