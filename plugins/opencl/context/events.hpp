// SPDX-License-Identifier: Apache-2.0
//
// Events: the events of a queue's commands: their state, their times, and waits for them.
// Free-threaded.
#pragma once

#include <algorithm>
#include <vector>

#include "opencl/context/native_queues.hpp"
#include "opencl/status.hpp"
#include "wye/sdk/work_times.hpp"

namespace wye::opencl {

// The events that mark the start and the end of a submit.
struct Submit {
    EventHandle first, last;           // `first`: set if timed, with several commands
    cl_command_queue queue = nullptr;  // if `last` is null: the native queue for a marker

    [[nodiscard]] bool is_marked() const { return static_cast<bool>(last); }
};

// The functions are inline, since every dispatch and every wait calls them.
class Events {
  public:
    Events(Device& device, const NativeQueues& queue)
        : device_(device),
          queue_(queue),
          few_(device.plugin.few_events.value_or(nvidia_cl_costly_events(device.info))),
          asks_each_(!nvidia_cl_costly_status(device.info)) {}

    // Whether a submit has ended. If the submit has no event, makes the event first.
    [[nodiscard]] Result<bool> has_ended(Submit& submit) {
        WYE_TRY(mark(submit));
        const EventState now = state_of(device_.driver, submit.last.get());
        WYE_TRY(device_.check(now.status, "clGetEventInfo"));
        if (now.state < 0) asks_each_.store(true, std::memory_order_relaxed);
        return now.state <= CL_COMPLETE;
    }
    // Makes the event of a submit that has none: a marker behind all work so far of the submit's
    // native queue. Flushes the native queue.
    [[nodiscard]] Result<void> mark(Submit& submit) {
        if (submit.last) return {};
        asked_.store(true, std::memory_order_relaxed);
        const Driver& driver = device_.driver;
        const cl_int status = driver.clEnqueueMarkerWithWaitList(submit.queue, 0, nullptr,
                                                                 submit.last.receive(driver));
        WYE_TRY(device_.check(status, "clEnqueueMarkerWithWaitList"));
        return device_.check(driver.clFlush(submit.queue), "clFlush");
    }
    // If at least this number of submits is pending, further submits share events.
    [[nodiscard]] std::size_t fewest_shared() const { return few_ ? kFewestShared : SIZE_MAX; }
    // Whether a submit needs an event from the start. `pending`: the number of other submits that
    // are pending. Submitting thread only; quirk nvidia-cl-costly-events.
    [[nodiscard]] bool needs_one(std::size_t pending, bool timed) {
        if (!few_) return true;
        const bool asked = asked_.exchange(false, std::memory_order_relaxed);
        if (timed || asked || pending < kFewestShared) {
            without_ = 0;
            return timed || asked || pending != 0;
        }
        return ends_share(pending);
    }
    // Returns the submit's event, with shared ownership. Makes the event first if there is none.
    [[nodiscard]] Result<EventHandle> share(Submit& submit) {
        WYE_TRY(mark(submit));
        const cl_int status = device_.driver.clRetainEvent(submit.last.get());
        WYE_TRY(device_.check(status, "clRetainEvent"));
        return EventHandle(device_.driver, submit.last.get());
    }
    // Makes a marker behind all work so far of the native queue of `event`.
    [[nodiscard]] Result<EventHandle> behind(const EventHandle& event) {
        const Driver& driver = device_.driver;
        cl_command_queue queue = nullptr;
        cl_int status = driver.clGetEventInfo(event.get(), CL_EVENT_COMMAND_QUEUE, sizeof queue,
                                              &queue, nullptr);
        WYE_TRY(device_.check(status, "clGetEventInfo"));
        EventHandle marker;
        status = driver.clEnqueueMarkerWithWaitList(queue, 0, nullptr, marker.receive(driver));
        WYE_TRY(device_.check(status, "clEnqueueMarkerWithWaitList"));
        return marker;
    }
    // The error of a submit that has ended. For a submit without an event, the wait has already
    // reported any error (quirk nvidia-cl-costly-status).
    [[nodiscard]] std::optional<Error> error_of(const Submit& submit) const {
        if (!submit.last || !asks_each_.load(std::memory_order_relaxed)) return std::nullopt;
        const EventState now = state_of(device_.driver, submit.last.get());
        if (now.status != CL_SUCCESS) return device_.failed(now.status, "clGetEventInfo");
        if (now.state < 0) return device_.failed(now.state, "a queued operation");
        return std::nullopt;
    }
    // The times from the start of `first` (null: of `last`) to the end of `last`.
    [[nodiscard]] sdk::WorkTimes times_of(const EventHandle& first, const EventHandle& last) const {
        const EventTimes times =
            opencl::times_of(device_.driver, (first ? first : last).get(), last.get());
        return sdk::times_on_host(times.start, times.end, device_.clock);
    }
    // Whether times can be put on the host's clock with enough precision.
    [[nodiscard]] bool knows_clock() const { return !device_.clock.is_old(); }
    // Relates the device's clock to the host's, by a marker on an idle queue with profiling.
    // Submitting thread only.
    void match_clock(cl_command_queue queue) {
        device_.clock.renew([&]() -> std::optional<std::uint64_t> {
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
    // Waits for an event. The failure of a command is not an error of the wait, but of the
    // command's own timeline value.
    [[nodiscard]] Result<bool> wait(const EventHandle& event) {
        const cl_event raw = event.get();
        const cl_int status = device_.driver.clWaitForEvents(1, &raw);
        if (status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) {
            asks_each_.store(true, std::memory_order_relaxed);
            return true;
        }
        WYE_TRY(device_.check(status, "waiting for the queue"));
        return true;
    }
    void flush() const { queue_.flush(); }
    // Waits until the queue is idle.
    [[nodiscard]] Result<void> finish() const { return queue_.finish(); }

  private:
    // From kFewestShared pending submits on, submits share events; at most kMostShared share one.
    static constexpr std::size_t kFewestShared = 8, kMostShared = 64;

    // Whether a submit gets an event. The event also stands for the submits before it that have
    // none. The submit gets an event if the number of submits that would share the event is a
    // quarter of the pending submits, or kMostShared. The answer depends on numbers of submits
    // only, not on time, so that equal series of submits make equal driver calls.
    [[nodiscard]] bool ends_share(std::size_t pending) {
        if (++without_ < std::min(pending / 4, kMostShared)) return false;
        without_ = 0;
        return true;
    }

    Device& device_;
    const NativeQueues& queue_;
    const bool few_;
    std::atomic<bool> asked_{false};  // whether `mark` made an event since the last submit
    std::atomic<bool> asks_each_;     // whether each event is asked for its error

    std::size_t without_ = 0;  // number of newest submits without an event; submitting thread only
};

// The events that the next driver command waits for. One thread at a time.
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
    // The wait list for the next command; valid until the next call of a member.
    [[nodiscard]] Order order() const {
        return {static_cast<cl_uint>(raw_.size()), raw_.empty() ? nullptr : raw_.data(), nullptr};
    }

  private:
    std::vector<EventHandle> owned_;
    std::vector<cl_event> raw_;
};

}  // namespace wye::opencl
