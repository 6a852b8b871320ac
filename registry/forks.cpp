// SPDX-License-Identifier: Apache-2.0
#include "registry/forks.hpp"

#include <pthread.h>

namespace wye::registry {

std::atomic<std::uint32_t> detail::forks{0};

void watch_forks() noexcept {
    static const int watching = ::pthread_atfork(
        nullptr, nullptr, [] { detail::forks.fetch_add(1, std::memory_order_relaxed); });
    (void)watching;  // if this fails for lack of memory, forks are not counted
}

bool may_open_drivers() noexcept {
    static std::atomic<std::int64_t> opened_in{-1};  // `fork_count` when drivers were first opened
    const auto here = static_cast<std::int64_t>(fork_count());
    std::int64_t first = -1;
    return opened_in.compare_exchange_strong(first, here) || first == here;
}

}  // namespace wye::registry
