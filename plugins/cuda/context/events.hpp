// SPDX-License-Identifier: Apache-2.0
//
// Events: the events of a stream: their state, their times, and waits for them. Events are reused
// once nothing waits for them. Free-threaded.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "cuda/context/marks.hpp"
#include "cuda/device.hpp"
#include "wye/sdk/host_copy.hpp"
#include "wye/sdk/work_times.hpp"

namespace wye::cuda {

enum class EventKind : std::uint8_t {
    Quick,     // a wait for it polls the driver
    Blocking,  // a wait for it sleeps in the driver; each use costs the device 1.5 us (H200)
    Timed      // a blocking event that also has a time
};
inline constexpr std::size_t kEventKinds = 3;

struct Event {
    EventHandle handle;
    EventKind kind;
};
using EventRef = std::shared_ptr<Event>;

// The events, mark and read-backs of a submit.
struct Submit {
    EventRef first, last;    // `first` is set if the submit is timed, `last` once it is needed
    std::uint32_t mark = 0;  // the number that the stream writes after the submit; 0: none
    std::vector<sdk::HostCopy> copies;  // made by the host once the submit has ended

    void clear() {
        if (first) first.reset();
        if (last) last.reset();
        mark = 0;
        copies.clear();
    }
};

class Events {
  public:
    Events(Device& device, CUstream stream)
        : device_(device), context_(device.context()), stream_(stream), marks_(context_, stream) {}

    // Makes the context current for the lifetime of the result. Members that call the driver need
    // the context to be current.
    [[nodiscard, gnu::always_inline]] Current enter() const { return Current(context_); }
    // Records an event after all work queued so far.
    [[nodiscard]] Result<EventRef> record(EventKind kind);
    // Records an event with a time. If `out` has an event, records that one again.
    [[nodiscard]] Result<void> record_time(EventRef& out) {
        if (out)
            return device_.check(device_.driver.cuEventRecord(out->handle.get(), stream_),
                                 "cuEventRecord");
        WYE_ASSIGN(out, record(EventKind::Timed));
        return {};
    }
    // Whether the submit has ended, by its mark or event. A submit with neither is the newest, so
    // it has ended if the stream is idle. One thread at a time.
    [[nodiscard]] Result<bool> has_ended(const Submit& submit) {
        if (submit.mark != 0) {
            if (marks_.reached(submit.mark)) return true;
            if (++asked_ % kAskDriver != 0) return false;
        }
        return has_ended(submit.last);
    }
    // Whether the submit's mark was written.
    [[nodiscard]] bool is_seen(const Submit& submit) const {
        return submit.mark != 0 && marks_.reached(submit.mark);
    }
    // Called before a submit. `among` is true if other submits are pending or this one is timed.
    // Submitting thread only.
    void begin(bool among) { writes_mark_ = !among; }
    // Lets the stream write a mark after the submit, unless other submits are pending or this one
    // is timed. In that case the time that the mark costs the stream matters more than a quick
    // wait. Submitting thread only.
    void write_mark(Submit& submit) {
        if (writes_mark_) submit.mark = write_mark();
    }
    // Lets the stream write a mark after a submit while no other submit is pending. Returns the
    // mark.
    [[nodiscard]] std::uint32_t write_mark() { return marks_.write(); }
    // Records the submit's event, if it has none.
    [[nodiscard]] Result<void> mark(Submit& submit, EventKind kind) {
        if (submit.last) return {};
        WYE_ASSIGN(submit.last, record(kind));
        return {};
    }
    // Returns the submit's event, with shared ownership. Records it first if there is none.
    [[nodiscard]] Result<EventRef> share(Submit& submit, EventKind kind) {
        WYE_TRY(mark(submit, kind));
        return submit.last;
    }
    // Returns the times between two timed events.
    [[nodiscard]] sdk::WorkTimes times_of(const EventRef& first, const EventRef& last) const;
    // Whether times can be converted to the host's clock with enough precision. Times between
    // events are floats, which lose digits as they grow.
    [[nodiscard]] bool knows_clock() const { return !clock_.is_old(); }
    // Relates the device's clock to the host's, by an event on the idle stream. Submitting thread
    // only.
    void match_clock();
    [[nodiscard]] Result<bool> wait(const EventRef& event) const;
    // Waits until the stream is idle.
    [[nodiscard]] Result<void> finish() const {
        if (context_.lost.load(std::memory_order_acquire))
            return context_.gone("work on the queue");
        const CUresult status = device_.driver.cuStreamSynchronize(stream_);
        return device_.check(status, "work on the queue");
    }
    // Returns a submit's events for reuse, except those that something still waits for.
    void give_back(Submit& submit) noexcept {
        if (submit.first) give_back(std::move(submit.first));
        if (submit.last) give_back(std::move(submit.last));
    }

  private:
    // One of this many polls of a mark also asks the driver, since after a fault the stream ends
    // without writing the mark.
    static constexpr std::uint32_t kAskDriver = 64;

    [[nodiscard]] Result<bool> has_ended(const EventRef& event) const {
        const CUresult now = event ? device_.driver.cuEventQuery(event->handle.get())
                                   : device_.driver.cuStreamQuery(stream_);
        if (now == CUDA_ERROR_NOT_READY) return false;
        WYE_TRY(device_.check(now, "work on the queue"));
        return true;
    }
    void give_back(EventRef event) noexcept;  // takes an event; frees it if memory runs out
    [[nodiscard]] EventRef take(EventKind kind);

    Device& device_;
    const Context& context_;  // the stream's context, even after the device got a new one
    const CUstream stream_;

    Marks marks_;
    bool writes_mark_ = false;
    std::uint32_t asked_ = 0;  // number of polls of marks so far
    sdk::ClockMatch<EventRef> clock_;

    sdk::Mutex mutex_;
    // Unused events, indexed by kind.
    std::array<std::vector<EventRef>, kEventKinds> free_ WYE_GUARDED_BY(mutex_);
};

}  // namespace wye::cuda
