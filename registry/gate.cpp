// SPDX-License-Identifier: Apache-2.0
#include "registry/gate.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace wye::registry {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

// The gate may be freed by now, which does no harm: a futex wake uses the address only, and does
// not access the memory.
void Gate::wake() noexcept {
    (void)::syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

bool Gate::wait_empty(std::optional<std::chrono::steady_clock::time_point> deadline) noexcept {
    for (;;) {
        const std::uint32_t word = word_.load(std::memory_order_acquire);
        if ((word & ~(kClosed | kWatched)) == 0) return true;
        timespec limit{};
        if (deadline) {
            // FUTEX_WAIT_BITSET takes a time of the monotonic clock, which steady_clock uses.
            const auto time =
                std::chrono::duration_cast<std::chrono::nanoseconds>(deadline->time_since_epoch());
            if (std::chrono::steady_clock::now() >= *deadline) return false;
            limit.tv_sec = time.count() / 1'000'000'000;
            limit.tv_nsec = time.count() % 1'000'000'000;
        }
        (void)::syscall(SYS_futex, &word_, FUTEX_WAIT_BITSET_PRIVATE, word,
                        deadline ? &limit : nullptr, nullptr, FUTEX_BITSET_MATCH_ANY);
    }
}

}  // namespace wye::registry
