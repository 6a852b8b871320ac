// SPDX-License-Identifier: Apache-2.0
//
// ValueLog: what is known of the values of a timeline: the newest submitted value, the newest
// reached value, the failed values with their errors, and the times of the newest timed values.
// Independent of drivers.
//
// Threads: add and add_reached are for the submitting thread. reach, fail and keep_times are for
// one thread at a time, which holds the lock of the plugin's timeline. All other members are
// free-threaded.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <new>
#include <optional>

#include "wye/sdk/errors.hpp"
#include "wye/sdk/fifo.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"
#include "wye/sdk/work_times.hpp"

namespace wye::sdk {

class ValueLog {
  public:
    enum class State : std::uint8_t { Reached, Pending, Failed };
    static constexpr std::uint64_t kKeptTimes = 256;

    ValueLog() { failures_.make_room(); }

    [[nodiscard]] std::uint64_t newest() const { return newest_.load(std::memory_order_acquire); }
    [[nodiscard]] std::uint64_t reached() const { return reached_.load(std::memory_order_acquire); }
    // Writers mark a value as failed before they mark it as reached, so readers read in the other
    // order.
    [[nodiscard, gnu::always_inline]] State state(std::uint64_t value) const {
        const bool there = value <= reached();
        if (value <= last_failed_.load(std::memory_order_acquire) && has_failed(value))
            return State::Failed;
        return there ? State::Reached : State::Pending;
    }
    // The error of a failed value.
    [[nodiscard]] std::optional<Error> failure(std::uint64_t value) const {
        if (value > last_failed_.load(std::memory_order_acquire)) return std::nullopt;
        const Lock lock(mutex_);
        const std::size_t at = find(value);
        if (at == failures_.size()) return std::nullopt;
        return failures_[at].error;
    }
    // As `failure`, but a brief error if there is no memory for a copy.
    [[nodiscard]] std::optional<Error> failure_or_brief(std::uint64_t value) const noexcept {
        if (value > last_failed_.load(std::memory_order_acquire)) return std::nullopt;
        const Lock lock(mutex_);
        const std::size_t at = find(value);
        if (at == failures_.size()) return std::nullopt;
        const Error& error = failures_[at].error;
        return errors::made_or_brief(error.code, [&] { return error; });
    }
    [[nodiscard, gnu::always_inline]] Result<void> outcome(std::uint64_t value) const {
        if (value > last_failed_.load(std::memory_order_acquire)) [[likely]]
            return {};
        return old_outcome(value);
    }
    // Returns the times of a reached value. Error: UNSUPPORTED if they were not kept, or are no
    // longer kept.
    [[nodiscard]] Result<WorkTimes> times(std::uint64_t value) const {
        const Lock lock(mutex_);
        for (std::uint64_t back = 1; value != 0 && back <= kKeptTimes; ++back)  // the newest first
            if (const Time& time = times_[(next_time_ - back) % kKeptTimes]; time.value == value)
                return time.times;
        return errors::times_not_kept(value, kKeptTimes);
    }

    // Adds a submit, whose value is above all earlier ones.
    void add(std::uint64_t value) { newest_.store(value, std::memory_order_release); }
    // Adds a submit that has ended. Everything before it must have been reached. Marks the value as
    // reached before it becomes the newest value, so that a thread that reads `newest` and then
    // `reached` never finds the value pending.
    void add_reached(std::uint64_t value) {
        reached_.store(value, std::memory_order_release);
        newest_.store(value, std::memory_order_release);
    }
    // Marks everything up to `value` as reached.
    void reach(std::uint64_t value) {
        if (reached_.load(std::memory_order_relaxed) < value)
            reached_.store(value, std::memory_order_release);
    }
    void keep_times(std::uint64_t value, const WorkTimes& times) {
        const Lock lock(mutex_);
        times_[next_time_++ % kKeptTimes] = {value, times};
    }
    // Fails the values [first, last] with `error`. These values must be above all values that
    // failed before. Adjacent values with equal errors share a range.
    void fail(std::uint64_t first, std::uint64_t last, Error error) noexcept {
        const Lock lock(mutex_);
        const bool any = !failures_.empty();
        Failure* const newest = any ? &failures_[failures_.size() - 1] : nullptr;
        if (any && newest->last + 1 == first && are_equal(newest->error, error)) {
            newest->last = last;
        } else {
            try {
                failures_.push({first, last, std::move(error)});
            } catch (const std::bad_alloc&) {  // no failure may be lost, so the newest range grows
                newest->last = last;           // not null: an empty list has room for one
            }
        }
        last_failed_.store(last, std::memory_order_release);
    }
    // Fails the submitted values up to `last` that were not reached. The caller must read `last`
    // from newest() before this function reads reached(); see `add_reached`.
    void fail_pending(std::uint64_t last, Error error) noexcept {
        if (reached() >= last) return;
        fail(reached() + 1, last, std::move(error));
        reach(last);
    }
    // The number of ranges of failed values that are kept.
    [[nodiscard]] std::size_t failures() const {
        const Lock lock(mutex_);
        return failures_.size();
    }
    // Forgets the failure of `value`, if `value` has failed. All other failures are kept.
    void retire(std::uint64_t value) noexcept {
        const Lock lock(mutex_);
        const std::size_t at = find(value);
        if (at == failures_.size()) return;
        Failure& range = failures_[at];
        if (range.first < value && value < range.last) {
            try {
                split(at, value);
            } catch (const std::bad_alloc&) {  // the failure is kept, but nobody asks for it
            }
        } else if (range.first < range.last) {
            (range.first == value ? ++range.first : --range.last);
        } else {
            for (std::size_t to = at; to > 0; --to) failures_[to] = std::move(failures_[to - 1]);
            (void)failures_.pop();
        }
    }

  private:
    struct Time {
        std::uint64_t value = 0;
        WorkTimes times;
    };

    struct Failure {
        std::uint64_t first = 0, last = 0;
        Error error;
    };
    [[nodiscard]] static bool are_equal(const Error& a, const Error& b) {
        return a.code == b.code && a.native_code == b.native_code && a.cause == b.cause &&
               a.message == b.message && a.fix == b.fix && a.subject == b.subject &&
               a.native_domain == b.native_domain;
    }
    [[nodiscard, gnu::noinline]] Result<void> old_outcome(std::uint64_t value) const {
        if (auto error = failure(value)) return *std::move(error);
        return {};
    }
    [[nodiscard, gnu::noinline]] bool has_failed(std::uint64_t value) const {
        const Lock lock(mutex_);
        return find(value) != failures_.size();
    }
    // Splits a range into the values below `value`, which is inside the range, and those above.
    void split(std::size_t at, std::uint64_t value) WYE_REQUIRES(mutex_) {
        Failure above{value + 1, failures_[at].last, failures_[at].error};
        failures_.make_room();
        failures_[at].last = value - 1;
        for (std::size_t i = at + 1; i < failures_.size(); ++i) std::swap(above, failures_[i]);
        failures_.push(std::move(above));
    }
    // The index of the range that contains `value`, or the end.
    [[nodiscard]] std::size_t find(std::uint64_t value) const WYE_REQUIRES(mutex_) {
        std::size_t from = 0, to = failures_.size();
        while (from != to) {
            const std::size_t middle = from + (to - from) / 2;
            if (failures_[middle].last < value)
                from = middle + 1;
            else
                to = middle;
        }
        const bool around = from != failures_.size() && failures_[from].first <= value;
        return around ? from : failures_.size();
    }

    std::atomic<std::uint64_t> newest_{0}, reached_{0};
    std::atomic<std::uint64_t> last_failed_{0};  // look-ups of greater values need no lock

    mutable Mutex mutex_;
    Fifo<Failure> failures_ WYE_GUARDED_BY(mutex_);  // ascending ranges
    std::array<Time, kKeptTimes> times_ WYE_GUARDED_BY(mutex_);
    std::uint64_t next_time_ WYE_GUARDED_BY(mutex_) = 0;  // modulo the size: the oldest entry
};

}  // namespace wye::sdk
