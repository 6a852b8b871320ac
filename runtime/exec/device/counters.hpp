// SPDX-License-Identifier: Apache-2.0
//
// Counters: count what a device of a context has done since it was opened, for wye_counters.
// Counting is always on, so it takes only relaxed atomics: no lock and no allocation.
// Free-threaded, except `ran`, `repeated` and `sent`, whose callers hold the lock of the queue
// pool.
#pragma once

#include <atomic>
#include <cstdint>

#include "wye/sdk/result.hpp"
#include "wye/wye.h"

namespace wye::exec {

struct CompileStats;

class Counters {
  public:
    // ---- Dispatches and transfers that ended ----

    // Counts a dispatch or an execution of prepared work, unless `ran` counts it. If it succeeded,
    // counts the bytes of its report too.
    void dispatched(bool ok, const wye_report& report) {
        if (!ok) return failed();
        add(dispatches_, 1);
        moved(report);
    }
    // Counts only the bytes of a report.
    [[gnu::always_inline]] void moved(const wye_report& report) {
        if (report.bytes_uploaded != 0) add(uploaded_, report.bytes_uploaded);
        if (report.bytes_downloaded != 0) add(downloaded_, report.bytes_downloaded);
        if (report.bytes_filled != 0) add(filled_, report.bytes_filled);
        if (report.bytes_copied != 0) add(copied_, report.bytes_copied);
    }
    void failed() { add(failed_, 1); }
    // Counts further dispatches that succeeded and whose bytes are already counted.
    void dispatched_too(std::uint64_t count) { add(dispatches_, count); }

    // Counts prepared work that the caller has submitted on the fast path and now waits for. The
    // caller holds the queue pool's lock, so a plain addition suffices. Once the work has ended,
    // the caller calls `moved`, or `run_failed` if the work failed.
    void ran() { add_locked(runs_, 1); }
    void run_failed() { add(failed_runs_, 1); }
    // Counts a submit of a repeated request. The caller holds the queue pool's lock.
    void repeated() { add_locked(repeats_, 1); }

    // Count the bytes of a transfer if `result` is a success. Return `result`.
    Result<void> uploaded(Result<void> result, std::uint64_t bytes) {
        return transferred(std::move(result), uploaded_, bytes);
    }
    Result<void> downloaded(Result<void> result, std::uint64_t bytes) {
        return transferred(std::move(result), downloaded_, bytes);
    }
    Result<void> copied(Result<void> result, std::uint64_t bytes) {
        return transferred(std::move(result), copied_, bytes);
    }
    Result<void> filled(Result<void> result, std::uint64_t bytes) {
        return transferred(std::move(result), filled_, bytes);
    }

    // Count bytes of registered memory, and bytes copied between devices. These bytes are also
    // counted as uploaded or downloaded.
    void registered(std::uint64_t bytes) { add(registered_, bytes); }
    void across(std::uint64_t bytes) { add(across_, bytes); }

    // ---- Native queues ----

    void submitted() { add(submits_, 1); }
    // Like `submitted`, for a caller that holds the queue pool's lock.
    void sent() { add_locked(sends_, 1); }
    void waited() { add(waits_, 1); }
    void polled(bool ended) {
        add(polls_, 1);
        if (ended) add(polls_ended_, 1);
    }

    // ---- Programs and memory ----

    void compiled(const CompileStats& stats);
    void found() { add(found_, 1); }
    void made_scratch(std::uint64_t count) { add(scratch_, count); }

    // Adds the counters of this object. The members of `out` about device memory, public queues and
    // layouts have other sources.
    void add_to(wye_counters& out) const;

  private:
    using Counter = std::atomic<std::uint64_t>;
    static void add(Counter& counter, std::uint64_t amount) {
        counter.fetch_add(amount, std::memory_order_relaxed);
    }
    static void add_locked(Counter& counter, std::uint64_t amount) {
        counter.store(load(counter) + amount, std::memory_order_relaxed);
    }
    static std::uint64_t load(const Counter& counter) {
        return counter.load(std::memory_order_relaxed);
    }
    static Result<void> transferred(Result<void> result, Counter& counter, std::uint64_t bytes) {
        if (result.ok()) add(counter, bytes);
        return result;
    }

    // Counters of the fast paths.
    Counter runs_ = 0, failed_runs_ = 0, sends_ = 0, repeats_ = 0;
    // Counters of all other paths.
    Counter dispatches_ = 0, failed_ = 0, submits_ = 0, waits_ = 0, polls_ = 0, polls_ended_ = 0;
    Counter uploaded_ = 0, downloaded_ = 0, copied_ = 0, filled_ = 0, registered_ = 0, across_ = 0;
    Counter scratch_ = 0, compiled_ = 0, loaded_ = 0, found_ = 0;
};

// Adds all members of `more` except the header.
void add_counts(const wye_counters& more, wye_counters& out);

}  // namespace wye::exec
