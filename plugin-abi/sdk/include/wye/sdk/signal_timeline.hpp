// SPDX-License-Identifier: Apache-2.0
//
// SignalTimeline: a timeline that submits and the host signal, implemented without the driver. A
// value that a submit will signal is bound to the submit's value on its queue, and is settled
// (reached or failed) when the submit's value is settled. A submit that waits for a bound value
// waits for the queue's value instead, so once the submit was made, it no longer needs this
// timeline. `QueueTimeline` is the plugin's queue timeline (timeline.hpp), which holds its lock
// while it calls settle. Members are free-threaded.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <thread>

#include "wye/sdk/loss_state.hpp"
#include "wye/sdk/timeline_object.hpp"
#include "wye/sdk/value_log.hpp"

namespace wye::sdk {

template <typename QueueTimeline>
class SignalTimeline : public TimelineObject {
  public:
    explicit SignalTimeline(const LossState& loss) : TimelineObject(false), loss_(loss) {}
    SignalTimeline(const SignalTimeline&) = delete;
    SignalTimeline& operator=(const SignalTimeline&) = delete;
    ~SignalTimeline() = default;

    // reached, poll and wait are as in Timeline.
    [[nodiscard]] bool reached(std::uint64_t value) const {
        return log_.state(value) == ValueLog::State::Reached;
    }
    [[nodiscard]] Result<bool> poll(std::uint64_t value) {
        Place<QueueTimeline> place;
        {
            const Lock lock(mutex_);
            if (settled(value)) return outcome(value);
            place = find(value);
        }
        if (place.timeline != nullptr) return place.timeline->poll(place.value);
        WYE_TRY(loss_.check());
        return false;
    }
    [[nodiscard]] Result<void> wait(std::uint64_t value, std::uint64_t timeout_ns) {
        const Clock::time_point start = Clock::now();
        for (;;) {
            const Place<QueueTimeline> place = await_signaller(value, start, timeout_ns);
            const std::uint64_t spent = since(start);
            if (place.timeline == nullptr) {
                if (log_.state(value) != ValueLog::State::Pending) return log_.outcome(value);
                WYE_TRY(loss_.check());
                return errors::timed_out(value, timeout_ns);
            }
            const std::uint64_t left = timeout_ns == UINT64_MAX ? UINT64_MAX
                                       : spent < timeout_ns     ? timeout_ns - spent
                                                                : 0;
            Result<void> waited = place.timeline->wait(place.value, left);
            if (waited.ok() || waited.error().code != Code::TIMEOUT) return waited;
            if (timeout_ns != UINT64_MAX && since(start) >= timeout_ns)
                return errors::timed_out(value, timeout_ns);
            std::this_thread::yield();  // the submit call is still in progress
        }
    }
    [[nodiscard]] bool has_failed(std::uint64_t value) const {
        return log_.state(value) == ValueLog::State::Failed;
    }
    void retire(std::uint64_t value) { log_.retire(value); }

    // The host signals `value`, or makes it fail.
    void signal(std::uint64_t value) { settle(value, std::nullopt); }
    void fail(std::uint64_t value, Error error) { settle(value, std::move(error)); }

    // Returns the queue's value to wait for in place of `value`. A null timeline: nothing is left
    // to wait for. Error: UNSUPPORTED if no submit that signals `value` was made yet.
    [[nodiscard]] Result<Place<QueueTimeline>> place_of(std::uint64_t value) {
        const Lock lock(mutex_);
        WYE_TRY(log_.outcome(value));
        const Place<QueueTimeline> place = settled(value) ? Place<QueueTimeline>() : find(value);
        if (place.timeline == nullptr && !settled(value)) return errors::not_signalled(value);
        return place;
    }
    // Records that the submit with the value `at` on a queue's timeline will signal `value`.
    void bind(std::uint64_t value, QueueTimeline& timeline, std::uint64_t at) {
        const Lock lock(mutex_);
        bound_.push({value, {&timeline, at}});
        changed_.notify_all();
    }
    // Records that the submit that was to signal `value` was refused.
    void unbind(std::uint64_t value) noexcept {
        const Lock lock(mutex_);
        for (std::size_t left = bound_.size(); left > 0; --left) {
            Bound one = bound_.pop();
            if (one.value != value) bound_.push(std::move(one));
        }
    }
    // Records that `value` was signalled, or has failed.
    void settle(std::uint64_t value, std::optional<Error> error) noexcept {
        const Lock lock(mutex_);
        if (value > log_.newest()) log_.add(value);
        if (error && value > log_.reached())
            log_.fail(log_.reached() + 1, value, *std::move(error));
        log_.reach(value);
        while (!bound_.empty() && bound_.front().value <= value) (void)bound_.pop();
        changed_.notify_all();
    }

  private:
    using Clock = std::chrono::steady_clock;
    struct Bound {
        std::uint64_t value = 0;
        Place<QueueTimeline> place;
    };
    [[nodiscard]] static std::uint64_t since(Clock::time_point start) {
        return static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
    }
    [[nodiscard]] bool settled(std::uint64_t value) const {
        return log_.state(value) != ValueLog::State::Pending;
    }
    [[nodiscard]] Result<bool> outcome(std::uint64_t value) const {
        WYE_TRY(log_.outcome(value));
        return true;
    }
    // The first submit that signals `value` or a later value.
    [[nodiscard]] Place<QueueTimeline> find(std::uint64_t value) WYE_REQUIRES(mutex_) {
        for (std::size_t at = 0; at < bound_.size(); ++at)
            if (bound_[at].value >= value) return bound_[at].place;
        return {};
    }
    // Waits until there is a submit that will signal `value`, and returns its place. Returns a null
    // place if the value was settled, the device was lost, or the time is over.
    [[nodiscard]] Place<QueueTimeline> await_signaller(std::uint64_t value, Clock::time_point start,
                                                       std::uint64_t timeout_ns) {
        // Polls, because no thread is notified of the loss of a device.
        constexpr std::uint64_t kLookUpNs = 50'000'000;
        WaitingLock lock(mutex_);
        for (;;) {
            if (settled(value)) return {};
            if (const Place<QueueTimeline> place = find(value); place.timeline != nullptr)
                return place;
            const std::uint64_t spent = since(start);
            if (loss_.lost() || spent >= timeout_ns) return {};
            lock.wait_until(changed_, Clock::now() + std::chrono::nanoseconds(
                                                         std::min(kLookUpNs, timeout_ns - spent)));
        }
    }

    const LossState& loss_;
    ValueLog log_;
    WaitMutex mutex_;
    std::condition_variable changed_;
    Fifo<Bound> bound_ WYE_GUARDED_BY(mutex_);  // ascending values
};

}  // namespace wye::sdk
