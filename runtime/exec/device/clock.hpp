// SPDX-License-Identifier: Apache-2.0
//
// The clock that time limits and reports use. Free-threaded.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace wye::exec {

using Clock = std::chrono::steady_clock;

// How long the library waits for cancelled work to stop.
constexpr std::chrono::seconds kCancelGrace{2};

// Like `Clock::now`, without the call into libstdc++: each dispatch reads the clock three times.
[[nodiscard]] inline Clock::time_point now() noexcept {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return Clock::time_point(std::chrono::seconds(time.tv_sec) +
                             std::chrono::nanoseconds(time.tv_nsec));
}

// A time as a timespec, so that clock_gettime can store it directly. `time` converts it.
class Instant {
  public:
    Instant() = default;
    explicit Instant(Clock::time_point time) noexcept {
        const auto since = time.time_since_epoch();
        const auto whole = std::chrono::duration_cast<std::chrono::seconds>(since);
        raw_ = {whole.count(), std::chrono::nanoseconds(since - whole).count()};
    }
    void read() noexcept { ::clock_gettime(CLOCK_MONOTONIC, &raw_); }
    [[nodiscard]] Clock::time_point time() const noexcept {
        return Clock::time_point(std::chrono::seconds(raw_.tv_sec) +
                                 std::chrono::nanoseconds(raw_.tv_nsec));
    }

    // The nanoseconds from this instant to a later instant.
    [[nodiscard]] std::uint64_t until(const Instant& later) const noexcept {
        constexpr std::int64_t kSecond = 1'000'000'000;
        return static_cast<std::uint64_t>((later.raw_.tv_sec - raw_.tv_sec) * kSecond +
                                          (later.raw_.tv_nsec - raw_.tv_nsec));
    }

  private:
    timespec raw_;
};

[[nodiscard]] inline std::uint64_t nanoseconds(Clock::duration duration) noexcept {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
}

// `start` plus a time limit, without overflow.
[[nodiscard]] inline Clock::time_point after(Clock::time_point start,
                                             std::uint64_t timeout_ns) noexcept {
    constexpr std::uint64_t kLongest = UINT64_C(1) << 61U;  // some 70 years
    return start +
           std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(timeout_ns, kLongest)));
}

}  // namespace wye::exec
