// SPDX-License-Identifier: Apache-2.0
//
// Events of a queue's commands: their state, times, and waits for them. [FREE].
#pragma once

#include <vector>

#include "opencl/context/native_queues.hpp"
#include "opencl/status.hpp"
#include "wye/sdk/work_times.hpp"

namespace wye::opencl {

// Inline, since each dispatch is waited for.
class Events {
  public:
    Events(Device& device, const NativeQueues& queue) : device_(device), queue_(queue) {}

    [[nodiscard]] Result<bool> has_ended(const EventHandle& event) const {
        const EventState now = state_of(device_.driver, event.get());
        WYE_TRY(device_.check(now.status, "clGetEventInfo"));
        return now.state <= CL_COMPLETE;
    }
    // Another owner of the event.
    [[nodiscard]] Result<EventHandle> share(const EventHandle& event) const {
        const cl_int status = device_.driver.clRetainEvent(event.get());
        WYE_TRY(device_.check(status, "clRetainEvent"));
        return EventHandle(device_.driver, event.get());
    }
    // The error of a command that has ended.
    [[nodiscard]] std::optional<Error> error_of(const EventHandle& event) const {
        const EventState now = state_of(device_.driver, event.get());
        if (now.status != CL_SUCCESS) return device_.failed(now.status, "clGetEventInfo");
        if (now.state < 0) return device_.failed(now.state, "a queued operation");
        return std::nullopt;
    }
    // From the start of `first` (null: of `last`) to the end of `last`.
    [[nodiscard]] sdk::WorkTimes times_of(const EventHandle& first, const EventHandle& last) const {
        const EventTimes times =
            opencl::times_of(device_.driver, (first ? first : last).get(), last.get());
        return sdk::times_on_host(times.start, times.end, clock_);
    }
    // Whether times are known on the host's clock, and nearly enough.
    [[nodiscard]] bool knows_clock() const { return !clock_.is_old(); }
    // By a marker on an idle queue that has times. Submitting thread only.
    void match_clock(cl_command_queue queue) {
        clock_.renew([&]() -> std::optional<std::uint64_t> {
            EventHandle marker;
            const Driver& driver = device_.driver;
            if (driver.clEnqueueMarkerWithWaitList(queue, 0, nullptr, marker.receive(driver)) !=
                    CL_SUCCESS ||
                driver.clFlush(queue) != CL_SUCCESS)
                return std::nullopt;
            const bool ended = sdk::ends_soon([&] {
                const EventState now = state_of(driver, marker.get());
                return now.status != CL_SUCCESS || now.state <= CL_COMPLETE;
            });
            if (!ended) return std::nullopt;
            const EventTimes times = opencl::times_of(driver, marker.get(), marker.get());
            if (times.end == 0) return std::nullopt;
            return times.end;
        });
    }
    // A failed command is the error of its own value, not of the wait.
    [[nodiscard]] Result<bool> wait(const EventHandle& event) const {
        const cl_event raw = event.get();
        const cl_int status = device_.driver.clWaitForEvents(1, &raw);
        if (status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) return true;
        WYE_TRY(device_.check(status, "waiting for the queue"));
        return true;
    }
    void flush() const { queue_.flush(); }
    // Waits until the queue is idle.
    [[nodiscard]] Result<void> finish() const { return queue_.finish(); }

  private:
    Device& device_;
    const NativeQueues& queue_;
    sdk::NanosecondMatch clock_;
};

// Events that the next command waits for. One thread at a time.
class EventWaits {
  public:
    void add(EventHandle event) {
        raw_.push_back(event.get());
        owned_.push_back(std::move(event));
    }
    void clear() {
        raw_.clear();
        owned_.clear();
    }
    // For the next command; valid until the next member is called.
    [[nodiscard]] Order order() const {
        return {static_cast<cl_uint>(raw_.size()), raw_.empty() ? nullptr : raw_.data(), nullptr};
    }

  private:
    std::vector<EventHandle> owned_;
    std::vector<cl_event> raw_;
};

}  // namespace wye::opencl
