// SPDX-License-Identifier: Apache-2.0
#include "cpu/timeline.hpp"

namespace wye::cpu {

void Timeline::end(std::uint64_t value, std::uint64_t spent_ns) {
    {
        const sdk::Lock lock(mutex_);
        log_.keep_time(value, spent_ns);
        log_.reach(value);
    }
    changed_.notify_all();
}

void Timeline::fail(std::uint64_t value, Error error) {
    log_.fail(value, std::move(error));
    end(value, 0);
}

Result<bool> Timeline::ended(std::uint64_t value) {
    return log_.state(value) != sdk::ValueLog::State::Pending;
}

Result<bool> Timeline::await(std::uint64_t value, std::uint64_t timeout_ns) {
    constexpr std::uint64_t kCentury = 3'000'000'000'000'000'000;  // more would overflow the clock
    const bool limited = timeout_ns < kCentury;
    const Clock::time_point end = Clock::now() + std::chrono::nanoseconds(limited ? timeout_ns : 0);
    sdk::WaitingLock lock(mutex_);
    while (log_.state(value) == sdk::ValueLog::State::Pending) {
        if (!limited)
            lock.wait(changed_);
        else if (!lock.wait_until(changed_, end))
            return ended(value);
    }
    return true;
}

void Timeline::cancel(std::uint64_t value) {
    std::uint64_t known = cancelled_.load(std::memory_order_relaxed);
    while (known < value &&
           !cancelled_.compare_exchange_weak(known, value, std::memory_order_relaxed)) {
    }
}

}  // namespace wye::cpu

template class wye::sdk::Timeline<wye::cpu::Timeline>;
