// SPDX-License-Identifier: Apache-2.0
#include "cpu/run/progress.hpp"

#include <algorithm>
#include <chrono>

namespace wye::cpu {

bool Progress::want(std::uint64_t value) {
    wanted_.store(std::min(wanted_.load(std::memory_order_relaxed), value),
                  std::memory_order_seq_cst);
    return ended_.load(std::memory_order_seq_cst) >= value;
}

void Progress::wake() {
    {
        const sdk::Lock lock(mutex_);
        wanted_.store(kNone, std::memory_order_relaxed);  // threads that still wait set it again
    }
    changed_.notify_all();
}

bool Progress::wait(std::uint64_t value, std::uint64_t timeout_ns) {
    if (has_ended(value)) return true;
    constexpr std::uint64_t kCentury = 3'000'000'000'000'000'000;  // more would overflow the clock
    const bool limited = timeout_ns < kCentury;
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::nanoseconds(limited ? timeout_ns : 0);
    sdk::WaitingLock lock(mutex_);
    while (!want(value)) {
        if (!limited)
            lock.wait(changed_);
        else if (!lock.wait_until(changed_, end))
            return has_ended(value);
    }
    return true;
}

}  // namespace wye::cpu
