// SPDX-License-Identifier: Apache-2.0
//
// The values of a queue: the newest submitted and reached ones, the first failed one with its
// error, and the device times of the newest timed ones. Independent of drivers.
//
// add: the submitting thread. reach, keep_time: one thread at a time, which holds the lock of the
// plugin's timeline. Everything else: any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "wye/sdk/errors.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"

namespace wye::sdk {

class ValueLog {
  public:
    enum class State : std::uint8_t { Reached, Pending, Failed };
    static constexpr std::uint64_t kKeptTimes = 256;

    [[nodiscard]] std::uint64_t newest() const { return newest_.load(std::memory_order_acquire); }
    [[nodiscard]] std::uint64_t reached() const { return reached_.load(std::memory_order_acquire); }
    // Writers mark a failed value before it is reached; readers read in the other order.
    [[nodiscard]] State state(std::uint64_t value) const {
        const bool there = value <= reached();
        if (value >= poisoned_at_.load(std::memory_order_acquire)) return State::Failed;
        return there ? State::Reached : State::Pending;
    }
    // The error, if the log is poisoned at `value`.
    [[nodiscard]] std::optional<Error> failure(std::uint64_t value) const {
        if (value < poisoned_at_.load(std::memory_order_acquire)) return std::nullopt;
        const Lock lock(mutex_);
        return error_;
    }
    [[nodiscard]] Result<void> outcome(std::uint64_t value) const {
        if (auto error = failure(value)) return *std::move(error);
        return {};
    }
    // Device nanoseconds of a reached value; UNSUPPORTED when they are not kept (any more).
    [[nodiscard]] Result<std::uint64_t> device_ns(std::uint64_t value) const {
        const Lock lock(mutex_);
        for (std::uint64_t back = 1; value != 0 && back <= kKeptTimes; ++back)  // the newest first
            if (const Time& time = times_[(next_time_ - back) % kKeptTimes]; time.value == value)
                return time.ns;
        return errors::times_not_kept(value, kKeptTimes);
    }

    // Adds a submit, whose value is above all earlier ones.
    void add(std::uint64_t value) { newest_.store(value, std::memory_order_release); }
    // Marks everything up to `value` as reached.
    void reach(std::uint64_t value) {
        if (reached_.load(std::memory_order_relaxed) < value)
            reached_.store(value, std::memory_order_release);
    }
    void keep_time(std::uint64_t value, std::uint64_t ns) {
        const Lock lock(mutex_);
        times_[next_time_++ % kKeptTimes] = {value, ns};
    }
    // `value` and all later ones fail with `error`. The first failure counts.
    void fail(std::uint64_t value, Error error) {
        const Lock lock(mutex_);
        if (error_) return;
        error_ = std::move(error);
        poisoned_at_.store(value, std::memory_order_release);
    }
    // Later submits fail.
    void poison(Error error) { fail(newest() + 1, std::move(error)); }
    // Values that were not reached fail.
    void fail_pending(Error error) { fail(reached() + 1, std::move(error)); }

  private:
    struct Time {
        std::uint64_t value = 0, ns = 0;
    };

    std::atomic<std::uint64_t> newest_{0}, reached_{0};
    std::atomic<std::uint64_t> poisoned_at_{UINT64_MAX};

    mutable Mutex mutex_;
    std::optional<Error> error_ WYE_GUARDED_BY(mutex_);
    std::array<Time, kKeptTimes> times_ WYE_GUARDED_BY(mutex_);
    std::uint64_t next_time_ WYE_GUARDED_BY(mutex_) = 0;  // modulo the size: the oldest
};

}  // namespace wye::sdk
