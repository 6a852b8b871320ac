// SPDX-License-Identifier: Apache-2.0
//
// The half of a queue's timeline that every plugin has: polling and waiting for values, failures
// and times. The plugin's class derives from it and knows how its driver tells that work has ended:
//
//     Result<bool> ended(value);              // collects; true: everything up to `value` has ended
//     Result<bool> await(value, timeout_ns);  // as that, after at most timeout_ns; false: not yet
//
// Both are asked for values that are neither reached nor failed. All members are free-threaded.
// Instantiated beside the class (`extern template`), so that its calls are inlined.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "wye/sdk/loss_state.hpp"
#include "wye/sdk/value_log.hpp"

namespace wye::sdk {

template <typename Derived>
class Timeline {
  public:
    Timeline(const LossState& loss, bool timing) : loss_(loss), log_(timing) {}
    Timeline(const Timeline&) = delete;
    Timeline& operator=(const Timeline&) = delete;

    [[nodiscard]] bool reached(std::uint64_t value) const {
        return log_.state(value) == ValueLog::State::Reached;
    }
    // True: reached. Else not yet, or the error by which it never will be.
    [[nodiscard]] Result<bool> poll(std::uint64_t value) {
        if (reached(value)) return true;
        WYE_TRY(usable(value));
        WYE_ASSIGN(const bool ended, self().ended(value));
        if (ended) WYE_TRY(log_.outcome(value));
        return ended;
    }
    // TIMEOUT after timeout_ns; UINT64_MAX: no limit.
    [[nodiscard, gnu::hot]] Result<void> wait(std::uint64_t value, std::uint64_t timeout_ns) {
        if (reached(value)) return {};
        WYE_TRY(usable(value));
        WYE_ASSIGN(const bool ended, self().await(value, timeout_ns));
        if (!ended) return errors::timed_out(value, timeout_ns);
        return log_.outcome(value);
    }
    // Device nanoseconds of a reached value; UNSUPPORTED when they are not kept (any more).
    [[nodiscard]] Result<std::uint64_t> device_ns(std::uint64_t value) {
        return log_.device_ns(value);
    }

    [[nodiscard]] bool keeps_times() const { return log_.keeps_times(); }
    [[nodiscard]] std::uint64_t newest() const { return log_.newest(); }
    // Unless `value` has failed, or the device was lost before it was reached.
    [[nodiscard]] Result<void> usable(std::uint64_t value) const {
        if (log_.state(value) == ValueLog::State::Failed) return log_.outcome(value);
        if (loss_.lost() && value > log_.reached()) return loss_.check();
        return {};
    }
    // What is submitted from now on fails.
    void poison(Error error) { log_.poison(std::move(error)); }

  protected:
    ~Timeline() = default;

    using Clock = std::chrono::steady_clock;
    [[nodiscard]] static std::uint64_t since(Clock::time_point start) {
        return static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
    }
    // Calls `ask`, which returns Result<bool>, until it says true or `limit_ns` have passed since
    // `start`, and lets other threads run in between after a while.
    template <typename Ask>
    [[nodiscard]] static Result<bool> ask_at_once(Clock::time_point start, std::uint64_t limit_ns,
                                                  Ask&& ask) {
        constexpr std::uint64_t kAlone = 50000;
        for (;;) {
            WYE_ASSIGN(const bool yes, ask());
            const std::uint64_t spent = yes ? 0 : since(start);
            if (yes || spent >= limit_ns) return yes;
            if (spent > kAlone) std::this_thread::yield();
        }
    }
    // Calls `ask`, which returns Result<bool>, until it says true or `timeout_ns` have passed since
    // `start`, with growing pauses: for drivers that cannot wait for so long and no longer.
    template <typename Ask>
    [[nodiscard]] static Result<bool> ask_at_intervals(Clock::time_point start,
                                                       std::uint64_t timeout_ns, Ask&& ask) {
        constexpr std::uint64_t kFirst = 2000, kLongest = 500000;
        for (std::uint64_t pause = kFirst;; pause = std::min(pause * 2, kLongest)) {
            WYE_ASSIGN(const bool yes, ask());
            const std::uint64_t spent = since(start);
            if (yes || spent >= timeout_ns) return yes;
            std::this_thread::sleep_for(
                std::chrono::nanoseconds(std::min(pause, timeout_ns - spent)));
        }
    }

    const LossState& loss_;
    ValueLog log_;

  private:
    [[nodiscard]] Derived& self() { return static_cast<Derived&>(*this); }
};

}  // namespace wye::sdk
