// SPDX-License-Identifier: Apache-2.0
//
// Events of a stream: their state, times, and waits for them. They are reused once nothing waits
// for them. [FREE].
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "cuda/device.hpp"
#include "wye/sdk/work_times.hpp"

namespace wye::cuda {

using EventRef = std::shared_ptr<EventHandle>;

class Events {
  public:
    Events(Device& device, CUstream stream)
        : device_(device), context_(device.context()), stream_(stream) {}

    // Makes the context current, as all members but give_back need it, for the result's lifetime.
    [[nodiscard]] Current enter() const { return Current(context_); }
    // Records an event after all work queued so far. `timed`: it has a time, and costs more.
    [[nodiscard]] Result<EventRef> record(bool timed);
    // As above, an event with a time; a given one is recorded again.
    [[nodiscard]] Result<void> record_time(EventRef& out) {
        if (out)
            return device_.check(device_.driver.cuEventRecord(out->get(), stream_),
                                 "cuEventRecord");
        WYE_ASSIGN(out, record(true));
        return {};
    }
    // Null: of the newest work, whose state is the stream's own.
    [[nodiscard]] Result<bool> has_ended(const EventRef& event) const {
        const CUresult now = event ? device_.driver.cuEventQuery(event->get())
                                   : device_.driver.cuStreamQuery(stream_);
        if (now == CUDA_ERROR_NOT_READY) return false;
        WYE_TRY(device_.check(now, "work on the queue"));
        return true;
    }
    // Another owner of the event; a null one is recorded first.
    [[nodiscard]] Result<EventRef> share(EventRef& event) {
        if (!event) {
            WYE_ASSIGN(event, record(false));
        }
        return event;
    }
    // From one timed event to another.
    [[nodiscard]] sdk::WorkTimes times_of(const EventRef& first, const EventRef& last) const;
    // Whether times are known on the host's clock, and nearly enough: times between events are
    // floats, which lose digits.
    [[nodiscard]] bool knows_clock() const { return !clock_.is_old(); }
    // By an event on the idle stream. Submitting thread only.
    void match_clock();
    [[nodiscard]] Result<bool> wait(const EventRef& event) const {
        const CUresult status = device_.driver.cuEventSynchronize(event->get());
        WYE_TRY(device_.check(status, "work on the queue"));
        return true;
    }
    // Waits until the stream is idle.
    [[nodiscard]] Result<void> finish() const {
        if (context_.lost.load(std::memory_order_acquire))
            return context_.gone("work on the queue");
        const CUresult status = device_.driver.cuStreamSynchronize(stream_);
        return device_.check(status, "work on the queue");
    }
    // Returns an event, recorded with this `timed`, for reuse, unless something still waits for it.
    // May be null.
    void give_back(EventRef event, bool timed);

  private:
    [[nodiscard]] EventRef take(bool timed);

    Device& device_;
    const Context& context_;  // of the stream, also after the device got another one
    const CUstream stream_;

    sdk::ClockMatch<EventRef> clock_;

    sdk::Mutex mutex_;
    std::array<std::vector<EventRef>, 2> free_ WYE_GUARDED_BY(mutex_);  // by `timed`
};

}  // namespace wye::cuda
