// SPDX-License-Identifier: Apache-2.0
//
// WorkTimes, ClockMatch: the times of a submit, and the relation between a device's clock and the
// host's.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "wye/sdk/mutex.hpp"

namespace wye::sdk {

// Times in nanoseconds; 0: unknown. Begin and end are on CLOCK_MONOTONIC.
struct WorkTimes {
    std::uint64_t spent_ns = 0;  // from begin to end
    std::uint64_t begin_ns = 0, end_ns = 0;
};

[[nodiscard]] inline std::uint64_t monotonic_ns() noexcept {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(time.tv_nsec);
}

// Polls for at most a millisecond, since a submit must not wait for other work of the device.
template <typename Ended>
[[nodiscard]] bool ends_soon(Ended&& ended) {
    constexpr std::uint64_t kSoonNs = 1'000'000;
    const std::uint64_t start = monotonic_ns();
    for (;;) {
        if (ended()) return true;
        if (monotonic_ns() - start > kSoonNs) return false;
    }
}

// Relates the clock of a device to CLOCK_MONOTONIC, by a moment that was read on both clocks.
// `Anchor` is that moment on the device: its clock's nanoseconds, or an event. Free-threaded.
template <typename Anchor>
class ClockMatch {
  public:
    struct Moment {
        Anchor anchor{};
        std::uint64_t host_ns = 0;    // 0: no moment was read
        std::uint64_t within_ns = 0;  // duration of reading both clocks; the error is at most half
    };

    // Whether the clocks may have drifted apart, so that a new moment should be read.
    [[nodiscard]] bool is_old() const {
        constexpr std::uint64_t kFreshNs = 1'000'000'000;
        const std::uint64_t tried = tried_ns_.load(std::memory_order_relaxed);
        return tried == 0 || monotonic_ns() - tried > kFreshNs;
    }
    // `read` reads the device's clock and returns optional<Anchor>. Calls it a few times, and takes
    // the moment that two readings of the host's clock enclose most closely. Keeps the earlier
    // moment if all readings took long, as on a busy machine, or if the earlier moment is still
    // more certain in spite of the drift since then. Does nothing while another thread does the
    // same.
    template <typename Read>
    void renew(Read&& read) {
        if (renewing_.exchange(true, std::memory_order_acquire)) return;
        struct End {
            ~End() { renewing.store(false, std::memory_order_release); }
            std::atomic<bool>& renewing;
        } const end{renewing_};
        constexpr int kTries = 3;
        constexpr std::uint64_t kCloseNs = 20'000, kWidestNs = 1'000'000;
        constexpr std::uint64_t kDriftShare = 10'000;  // 100 us a second
        Moment best;
        best.within_ns = kWidestNs;
        for (int i = 0; i < kTries && best.within_ns > kCloseNs; ++i) {
            const std::uint64_t before = monotonic_ns();
            std::optional<Anchor> anchor = read();
            const std::uint64_t within = monotonic_ns() - before;
            if (!anchor) break;
            if (within < best.within_ns) best = {*std::move(anchor), before + within / 2, within};
        }
        const Lock lock(mutex_);
        const bool replaces =
            moment_.host_ns == 0 ||
            best.within_ns <= moment_.within_ns + (best.host_ns - moment_.host_ns) / kDriftShare;
        if (best.host_ns != 0 && replaces) moment_ = std::move(best);
        tried_ns_.store(monotonic_ns(), std::memory_order_relaxed);
    }
    // The newest moment.
    [[nodiscard]] Moment moment() const {
        const Lock lock(mutex_);
        return moment_;
    }

  private:
    std::atomic<bool> renewing_{false};
    std::atomic<std::uint64_t> tried_ns_{0};
    mutable Mutex mutex_;
    Moment moment_ WYE_GUARDED_BY(mutex_);
};

using NanosecondMatch = ClockMatch<std::uint64_t>;

// Converts the times of work from `begin` to `end` on the device's clock; 0 and 0 mean unknown.
[[nodiscard]] inline WorkTimes times_on_host(std::uint64_t begin, std::uint64_t end,
                                             const NanosecondMatch& match) {
    WorkTimes out;
    if (end <= begin) return out;
    out.spent_ns = end - begin;
    const NanosecondMatch::Moment moment = match.moment();
    if (moment.host_ns == 0) return out;
    // The arithmetic is modulo 2^64, so it is also right for work before the moment.
    out.begin_ns = moment.host_ns + (begin - moment.anchor);
    out.end_ns = out.begin_ns + out.spent_ns;
    return out;
}

}  // namespace wye::sdk
