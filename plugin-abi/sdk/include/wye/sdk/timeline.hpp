// SPDX-License-Identifier: Apache-2.0
//
// Timeline: the timeline of a queue: polling and waiting for values, and their failures and times.
// For each pending value, the timeline keeps a Submit: the plugin's state for polling, waiting and
// cleaning up (events, marks, host copies). The plugin's class derives from Timeline and has, in
// this order:
//
//     Result<bool> has_ended(const Submit&)     asks the driver, without waiting
//     Result<Event> event_of(Submit&)           an event reached no earlier than the submit
//     Result<void> mark(Submit&)                makes that event, if there is none; optional
//     optional<Error> settle(value, Submit&)    after the submit's end: completes read-backs
//     WorkTimes times_of(const Submit&)         of a timed submit; called before settle
//     Result<Event> sleep_event_of(Submit&)     event_of for a thread that will sleep; optional
//     Result<bool> wait_for(Event, timeout_ns)  false: timed out
//     Result<void> finish()                     waits until the driver is idle
//     bool may_finish()                         whether finish() replaces wait_for for the newest
//                                               value, although finish() also waits for work
//                                               submitted meanwhile; optional
//     static constexpr bool kWaitsWithLimit     false: wait_for is called only with UINT64_MAX
//     static constexpr bool kFailsLate          pending work may fail without a loss of the device
//
// and optionally enter(), whose result is kept alive during driver calls (a current context), and a
// member `events` with
//
//     bool is_seen(const Submit&)               whether the submit has ended, as far as the host
//                                               knows without the driver; called without enter()
//
// A Submit with a member is_marked() may have no event. The timeline then asks the next later
// submit that has an event, or the newest submit if none has. So the value of a Submit without an
// event may be reached only when that later submit has ended.
//
// If Submit has a member clear(), the timeline empties each Submit by it, so that the Submit keeps
// its memory.
//
// The timeline holds its lock while it calls is_seen and the functions up to sleep_event_of, so
// they must not call the timeline. After an error of has_ended, wait_for or finish, the state of
// the work is unknown: all pending values fail with that error; later submits run, unless the
// device was lost. Once the device was lost, no pending value is reached any more. Members are
// free-threaded unless stated. Each plugin instantiates the template in the source file of its
// derived class (`extern template` elsewhere), so that the calls of that class's functions are
// inlined.
#pragma once

#include <algorithm>
#include <chrono>
#include <span>
#include <thread>

#include "wye/sdk/fifo.hpp"
#include "wye/sdk/loss_state.hpp"
#include "wye/sdk/pauses.hpp"
#include "wye/sdk/signal_timeline.hpp"
#include "wye/sdk/spin.hpp"
#include "wye/sdk/value_log.hpp"

namespace wye::sdk {

// Calls the timeline's enter(), if it has one.
template <typename Timeline>
[[nodiscard, gnu::always_inline]] inline auto enter([[maybe_unused]] Timeline& timeline) {
    if constexpr (requires { timeline.enter(); })
        return timeline.enter();
    else
        return nullptr;
}

template <typename Derived, typename Submit, typename Event>
class Timeline : public TimelineObject {
  public:
    using Signals = SignalTimeline<Derived>;

    // `spin_ns`: how long a wait polls before it waits for an event.
    explicit Timeline(const LossState& loss, std::uint64_t spin_ns = 0)
        : TimelineObject(true), loss_(loss), spin_(spin_ns) {}
    Timeline(const Timeline&) = delete;
    Timeline& operator=(const Timeline&) = delete;

    [[nodiscard]] bool reached(std::uint64_t value) const {
        return log_.state(value) == ValueLog::State::Reached;
    }
    // Returns true if the value was reached, false if not yet. Returns an error if the value failed
    // or will never be reached.
    [[nodiscard]] Result<bool> poll(std::uint64_t value) {
        if (reached(value)) return true;
        WYE_TRY(usable(value));
        if (see(value)) {
            WYE_TRY(log_.outcome(value));
            return true;
        }
        [[maybe_unused]] const auto entered = enter(self());
        WYE_ASSIGN(const bool ended, ended_by_now(value));
        if (ended) WYE_TRY(log_.outcome(value));
        return ended;
    }
    // Waits for a value. Error: TIMEOUT after timeout_ns; UINT64_MAX stands for no limit.
    [[nodiscard, gnu::hot]] Result<void> wait(std::uint64_t value, std::uint64_t timeout_ns) {
        if (reached(value)) return {};
        WYE_TRY(usable(value));
        if (see(value)) {
            spin_.waited(0);
            return log_.outcome(value);
        }
        return wait_entered(value, timeout_ns);
    }
    [[nodiscard, gnu::noinline]] Result<void> wait_entered(std::uint64_t value,
                                                           std::uint64_t timeout_ns) {
        [[maybe_unused]] const auto entered = enter(self());
        WYE_ASSIGN(const bool ended, await(value, timeout_ns));
        if (!ended) return errors::timed_out(value, timeout_ns);
        return log_.outcome(value);
    }
    // Called before a timed submit. From time to time, relates the device's clock to the host's, by
    // work that the derived class's `events` submits to `on`. If work is pending, the new work
    // would wait behind it, so the earlier relation stays in use.
    template <typename... On>
    void match_clock(On... on) {
        if (self().events.knows_clock()) return;
        const Result<bool> idle = poll(newest());
        if (idle.ok() && *idle) self().events.match_clock(on...);
    }
    // Returns the times of a reached value. Error: UNSUPPORTED if they were not kept, or are no
    // longer kept.
    [[nodiscard]] Result<WorkTimes> times(std::uint64_t value) { return log_.times(value); }

    [[nodiscard]] std::uint64_t newest() const { return log_.newest(); }
    // Returns an error if `value` has failed, or if the device was lost before `value` was reached.
    [[nodiscard, gnu::always_inline]] Result<void> usable(std::uint64_t value) const {
        if (log_.state(value) == ValueLog::State::Failed) return log_.outcome(value);
        if (loss_.lost() && value > log_.reached()) [[unlikely]]
            return loss_.check();
        return {};
    }
    [[nodiscard]] bool has_failed(std::uint64_t value) const {
        return log_.state(value) == ValueLog::State::Failed;
    }
    // Forgets the failure of a value.
    void retire(std::uint64_t value) { log_.retire(value); }

    // Whether a pending value may fail without a loss of the device.
    [[nodiscard]] static constexpr bool fails_late() { return Derived::kFailsLate; }

    // Records that the submit that gets `value` signals these events, whose timelines are
    // SignalTimelines.
    void add_signals(std::uint64_t value, std::span<const wye_event> events) {
        for (const wye_event& event : events) {
            auto& timeline = static_cast<Signals&>(TimelineObject::of(event.timeline));
            {
                const Lock lock(mutex_);
                signals_.push({value, &timeline, event.value});
            }
            timeline.bind(event.value, self(), value);
        }
    }
    // Records that the submit with `value` was refused, and signals nothing.
    void drop_signals(std::uint64_t value) noexcept {
        const Lock lock(mutex_);
        for (std::size_t left = signals_.size(); left > 0; --left) {
            const Signal one = signals_.pop();
            if (one.at == value)
                one.timeline->unbind(one.value);
            else
                signals_.push(one);
        }
    }

    // Adds `value`, which is above all earlier ones and is reached when `submit` has ended.
    // `timed`: the times of the submit are kept then. For the submitting thread only.
    void add(std::uint64_t value, Submit&& submit, bool timed) {
        const Lock lock(mutex_);
        collect_old();
        Pending& pending = pending_.push_new();
        pending.submit = std::move(submit);
        set(pending, value, timed);
    }
    // As `mark_newest`, and also sets `out` to the place where the caller writes the next submit.
    // `add_drafted` then adds that submit; to give it up, the caller empties the place. Nothing
    // else may be added in between. For the submitting thread only.
    [[nodiscard]] Result<bool> draft(Submit*& out) {
        const Lock lock(mutex_);
        pending_.make_room();
        collect_old();
        out = &pending_.next().submit;
        return mark_last();
    }
    // As `draft`, but makes no event, and returns the number of pending submits.
    [[nodiscard]] std::size_t draft_among(Submit*& out) {
        const Lock lock(mutex_);
        pending_.make_room();
        collect_old();
        out = &pending_.next().submit;
        return pending_.size();
    }
    // As `draft`, but takes no lock, and returns the place; null if a submit is pending. For the
    // submitting thread only. Other threads only remove submits, and mark a value as reached after
    // they removed its submit. So once all values were reached, nothing is left to remove.
    [[nodiscard]] Submit* draft_if_idle() WYE_THREAD_ATTRIBUTE(no_thread_safety_analysis) {
        if (log_.reached() != log_.newest()) return nullptr;
        pending_.make_room();
        return &pending_.next().submit;
    }
    // As `add`, for the submit that the caller wrote to the place of `draft`. Does not throw.
    [[gnu::always_inline]] void add_drafted(std::uint64_t value, bool timed) {
        const Lock lock(mutex_);
        set(pending_.push_next(), value, timed);
    }
    // As `add`, for work that has already ended, after all earlier work.
    void add_ended(std::uint64_t value, const WorkTimes& times, bool timed) {
        const Lock lock(mutex_);
        collect(log_.newest());
        log_.add(value);
        if (timed) log_.keep_times(value, times);
        log_.reach(value);
        signal();
    }
    // Like `add_ended`, but takes no lock. The submit must have no times and no signals, and all
    // earlier values must have been reached. For the submitting thread only.
    void add_reached(std::uint64_t value) { log_.add_reached(value); }
    // Like `add_ended`, for a submit that failed with `error`.
    void add_failed(std::uint64_t value, Error error) noexcept {
        const Lock lock(mutex_);
        collect(log_.newest());
        log_.add(value);
        log_.fail(value, value, std::move(error));
        log_.reach(value);
        signal();
    }
    // Marks everything up to `value` as ended, for plugins that run the work themselves. Does not
    // fail for lack of memory.
    void publish(std::uint64_t value) noexcept {
        const Lock lock(mutex_);
        collect(value);
    }
    // Returns an event that another queue can wait for, or an empty one if `value` was reached.
    [[nodiscard]] Result<Event> event_for(std::uint64_t value) {
        const Lock lock(mutex_);
        if (Submit* submit = find_marked(value)) return self().event_of(*submit);
        return Event();
    }
    // Called before another submit. If the newest submit is pending, makes its event now, since an
    // event made later would also cover the other submit. Returns whether the newest submit is
    // pending. For the submitting thread only.
    [[nodiscard]] Result<bool> mark_newest() {
        const Lock lock(mutex_);
        return mark_last();
    }
    // As `mark_newest`, but makes no event if `many` submits or more are pending. Returns the
    // number of pending submits.
    [[nodiscard]] Result<std::size_t> mark_newest_of_few(std::size_t many) {
        const Lock lock(mutex_);
        if (pending_.size() < many) WYE_TRY(mark_last());
        return pending_.size();
    }
    // Waits until the driver is idle. Marks no value as reached or failed.
    void let_end() noexcept {
        [[maybe_unused]] const auto entered = enter(self());
        (void)finish_all();
    }
    // Waits until all work has ended, including queued work that has no value yet.
    void drain() noexcept {
        [[maybe_unused]] const auto entered = enter(self());
        const std::uint64_t last = newest();
        std::optional<Error> error = finish_all();
        const Lock lock(mutex_);
        if (error)
            give_up(last, *std::move(error));
        else
            collect(last);
    }

  protected:
    ~Timeline() = default;

    // Calls `visit(value, submit)` for all pending values in [first, last].
    template <typename Visit>
    void visit_pending(std::uint64_t first, std::uint64_t last, Visit&& visit) {
        const Lock lock(mutex_);
        for (std::size_t at = 0; at < pending_.size(); ++at)
            if (pending_[at].value >= first && pending_[at].value <= last)
                visit(pending_[at].value, pending_[at].submit);
    }

    ValueLog log_;

  private:
    using Clock = std::chrono::steady_clock;

    struct Pending {
        std::uint64_t value = 0;
        Submit submit;
        bool timed = false;
    };

    struct Signal {
        std::uint64_t at = 0;  // the value of the signalling submit
        Signals* timeline = nullptr;
        std::uint64_t value = 0;
    };

    // From kMany pending submits on, every kSome-th new submit settles the kSome oldest submits, if
    // these have ended. So a caller that never waits does not accumulate events.
    static constexpr std::size_t kMany = 256, kSome = 64;
    static constexpr std::size_t kNowhere = SIZE_MAX;

    [[nodiscard]] Derived& self() { return static_cast<Derived&>(*this); }
    [[nodiscard]] static std::uint64_t since(Clock::time_point start) {
        return static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
    }

    void set(Pending& pending, std::uint64_t value, bool timed) WYE_REQUIRES(mutex_) {
        pending.value = value;
        pending.timed = timed;
        log_.add(value);
    }
    [[nodiscard]] Result<bool> mark_last() WYE_REQUIRES(mutex_) {
        if (pending_.empty()) return false;
        if constexpr (requires(Submit & submit) { self().mark(submit); })
            WYE_TRY(self().mark(pending_[pending_.size() - 1].submit));
        return true;
    }
    // Settles `value` if nothing earlier is pending and `is_seen` tells that its submit has ended.
    // False: the driver must be asked.
    [[nodiscard, gnu::always_inline]] bool see(std::uint64_t value) {
        if constexpr (requires(const Submit& submit) { self().events.is_seen(submit); }) {
            const Lock lock(mutex_);
            if (pending_.empty()) return false;
            const Pending& first = pending_.front();
            if (first.value != value || first.timed || !self().events.is_seen(first.submit))
                return false;
            collect(value);
            return true;
        } else {
            return false;
        }
    }
    [[nodiscard]] Result<bool> ended_by_now(std::uint64_t value) {
        Result<bool> now = ask(value);
        return now.ok() ? std::move(now) : failed(value, std::move(now).error());
    }
    [[nodiscard]] Result<bool> await(std::uint64_t value, std::uint64_t timeout_ns) {
        Result<bool> now = block(value, timeout_ns);
        if (!now.ok()) return failed(value, std::move(now).error());
        if (*now) publish(value);
        return now;
    }

    // Finds the newest pending submit up to `value`. Returns null if all submits up to `value` were
    // settled, or if `value` was not submitted yet.
    [[nodiscard]] Submit* find(std::uint64_t value) WYE_REQUIRES(mutex_) {
        const std::size_t at = place_of(value);
        return at == kNowhere ? nullptr : &pending_[at].submit;
    }
    // Like `find`; if that submit has no event, returns the later submit to ask in its place.
    [[nodiscard]] Submit* find_marked(std::uint64_t value) WYE_REQUIRES(mutex_) {
        if constexpr (requires(const Submit& submit) { submit.is_marked(); }) {
            std::size_t at = place_of(value);
            if (at == kNowhere) return nullptr;
            while (at + 1 < pending_.size() && !pending_[at].submit.is_marked()) ++at;
            return &pending_[at].submit;
        } else {
            return find(value);
        }
    }
    [[nodiscard]] std::size_t place_of(std::uint64_t value) WYE_REQUIRES(mutex_) {
        if (pending_.empty() || value < pending_.front().value || value > log_.newest())
            return kNowhere;
        std::size_t first = 0, last = pending_.size() - 1;
        if (pending_[last].value <= value) return last;
        while (last - first > 1) {
            const std::size_t middle = first + (last - first) / 2;
            (pending_[middle].value <= value ? first : last) = middle;
        }
        return first;
    }
    [[nodiscard]] Result<bool> ask(std::uint64_t value) {
        const Lock lock(mutex_);
        Submit* submit = find_marked(value);
        if (submit == nullptr) return caught_up(value);
        WYE_ASSIGN(const bool yes, self().has_ended(*submit));
        if (yes) collect(value);
        return yes;
    }
    // Polls for a while, then waits.
    [[nodiscard]] Result<bool> block(std::uint64_t value, std::uint64_t timeout_ns) {
        const bool at_intervals = timeout_ns != UINT64_MAX && !Derived::kWaitsWithLimit;
        const std::uint64_t spin_ns = spin_.next_ns();
        if (spin_ns == 0 && !at_intervals) return sleep(value, timeout_ns);
        const Clock::time_point start = Clock::now();
        WYE_ASSIGN(const bool soon, ask_at_once(value, start, std::min(timeout_ns, spin_ns)));
        if (soon) {
            spin_.waited(0);
            return true;
        }
        WYE_ASSIGN(const bool ended, at_intervals ? ask_at_intervals(value, start, timeout_ns)
                                                  : sleep(value, timeout_ns));
        if (ended) spin_.waited(since(start));
        return ended;
    }
    // Waits in the driver.
    [[nodiscard]] Result<bool> sleep(std::uint64_t value, std::uint64_t timeout_ns) {
        if constexpr (requires { self().may_finish(); })
            if (self().may_finish() && value == log_.newest()) {
                WYE_TRY(self().finish());
                return true;
            }
        WYE_ASSIGN(const Event event, sleep_event_for(value));
        if (!event) {
            const Lock lock(mutex_);
            return caught_up(value);
        }
        return self().wait_for(event, timeout_ns);
    }
    [[nodiscard]] Result<Event> sleep_event_for(std::uint64_t value) {
        if constexpr (requires(Submit & submit) { self().sleep_event_of(submit); }) {
            const Lock lock(mutex_);
            if (Submit* submit = find(value)) return self().sleep_event_of(*submit);
            return Event();
        } else {
            return event_for(value);
        }
    }
    // Polls until the value has ended or `limit_ns` have passed since `start`. Yields to other
    // threads after a while.
    [[nodiscard]] Result<bool> ask_at_once(std::uint64_t value, Clock::time_point start,
                                           std::uint64_t limit_ns) {
        constexpr std::uint64_t kAlone = 50000;
        for (;;) {
            WYE_ASSIGN(const bool yes, ask(value));
            const std::uint64_t spent = yes ? 0 : since(start);
            if (yes || spent >= limit_ns) return yes;
            if (spent > kAlone) std::this_thread::yield();
        }
    }
    // Polls with growing pauses until the value has ended or `timeout_ns` have passed since
    // `start`: for drivers that cannot wait with a time limit.
    [[nodiscard]] Result<bool> ask_at_intervals(std::uint64_t value, Clock::time_point start,
                                                std::uint64_t timeout_ns) {
        for (Pauses pauses;;) {
            WYE_ASSIGN(const bool yes, ask(value));
            const std::uint64_t spent = since(start);
            if (yes || spent >= timeout_ns) return yes;
            pauses.sleep(timeout_ns - spent);
        }
    }

    // Settles everything up to `value`. Noexcept, since internal threads and destructors call it.
    void collect(std::uint64_t value) noexcept WYE_REQUIRES(mutex_) {
        while (!pending_.empty() && pending_.front().value <= value) {
            Pending& first = pending_.front();
            const std::uint64_t ended = first.value;
            if (first.timed) [[unlikely]]
                settle_timed(first);
            else if (auto error = settle(first)) [[unlikely]]
                log_.fail(ended, ended, *std::move(error));
            if constexpr (requires { first.submit.clear(); })
                first.submit.clear();
            else
                first.submit = Submit();
            pending_.drop();
            log_.reach(ended);
        }
        (void)caught_up(value);
        if (!signals_.empty()) [[unlikely]]
            signal();
    }
    // If there is no memory to settle a submit, the value of the submit fails.
    [[nodiscard, gnu::always_inline]] std::optional<Error> settle(Pending& pending) noexcept
        WYE_REQUIRES(mutex_) {
        std::optional<Error> error;
        try {
            error = self().settle(pending.value, pending.submit);
        } catch (const std::exception&) {
            error = errors::brief(Code::OUT_OF_MEMORY);
        }
        // Every submit of a lost device fails with the error of the loss.
        if (loss_.lost()) [[unlikely]]
            error = loss_.error_or_brief();
        return error;
    }
    [[gnu::noinline]] void settle_timed(Pending& pending) noexcept WYE_REQUIRES(mutex_) {
        WorkTimes times;
        try {
            times = self().times_of(pending.submit);
        } catch (const std::exception&) {  // without memory: no times
        }
        if (auto error = settle(pending))
            log_.fail(pending.value, pending.value, *std::move(error));
        else
            log_.keep_times(pending.value, times);
    }
    // Settles the values of SignalTimelines that submits up to the reached value signal.
    void signal() noexcept WYE_REQUIRES(mutex_) {
        while (!signals_.empty() && signals_.front().at <= log_.reached()) {
            const Signal one = signals_.pop();
            one.timeline->settle(one.value, log_.failure_or_brief(one.at));
        }
    }
    // Whether nothing up to `value` is pending. Submits may skip values: a skipped value is reached
    // with the submit before it, once a later submit was made.
    [[nodiscard]] bool caught_up(std::uint64_t value) WYE_REQUIRES(mutex_) {
        const bool yes =
            value <= log_.newest() && (pending_.empty() || value < pending_.front().value);
        if (yes) log_.reach(value);
        return yes;
    }
    void collect_old() WYE_REQUIRES(mutex_) {
        if (pending_.size() % kSome != 0) return;
        while (pending_.size() >= kMany) {
            std::size_t at = kSome - 1;
            if constexpr (requires(const Submit& submit) { submit.is_marked(); }) {
                while (at > 0 && !pending_[at].submit.is_marked()) --at;
                if (!pending_[at].submit.is_marked()) return;
            }
            Pending& last = pending_[at];
            const Result<bool> ended = self().has_ended(last.submit);
            if (!ended.ok() || !*ended) return;
            collect(last.value);
        }
    }
    // Fails the pending values up to `last`, without completing their read-backs.
    void give_up(std::uint64_t last, Error error) noexcept WYE_REQUIRES(mutex_) {
        while (!pending_.empty() && pending_.front().value <= last) (void)pending_.pop();
        log_.fail_pending(last, std::move(error));
        signal();
    }
    // Waits until the driver is idle. Returns an error if it is not known whether the driver is
    // idle.
    [[nodiscard]] std::optional<Error> finish_all() noexcept {
        try {
            Result<void> finished = self().finish();
            if (finished.ok()) return std::nullopt;
            return std::move(finished).error();
        } catch (const std::exception&) {
            return errors::brief(Code::OUT_OF_MEMORY);
        }
    }
    // Fails the values that are pending now. First waits for the driver, if that is possible: a
    // caller that gets an error frees its memory, so no work may use it then. Submits that are
    // added meanwhile may still run, and stay pending.
    [[nodiscard]] Result<bool> failed(std::uint64_t value, Error error) {
        const std::uint64_t last = newest();
        (void)finish_all();
        const Lock lock(mutex_);
        give_up(last, std::move(error));
        WYE_TRY(log_.outcome(value));
        return true;
    }

    const LossState& loss_;
    SpinTime spin_;

    Mutex mutex_;
    Fifo<Pending> pending_ WYE_GUARDED_BY(mutex_);  // ascending values, up to the newest
    Fifo<Signal> signals_ WYE_GUARDED_BY(mutex_);   // ascending values
};

}  // namespace wye::sdk
