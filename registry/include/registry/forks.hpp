// SPDX-License-Identifier: Apache-2.0
//
// Forks: tells a forked child from the process that made an object. A child has the memory of its
// parent, but of its threads only the one that forked, and drivers do not work in it: a queue hangs
// at its first use. So objects remember the count of forks at their making, and compare.
//
// One counter per process, as a fork is of the process. Counted by pthread_atfork: a child made by
// a raw `clone` without it is not seen.
#pragma once

#include <atomic>
#include <cstdint>

namespace wye::registry {

namespace detail {
extern std::atomic<std::uint32_t> forks;
}

// Forks between the first process and this one, counted since `watch_forks`. One load.
[[nodiscard]] inline std::uint32_t fork_count() noexcept {
    return detail::forks.load(std::memory_order_relaxed);
}

// Begins to count; called again it does nothing. Before anything remembers a count.
void watch_forks() noexcept;

// False in a child whose ancestor opened plugins: their drivers must not be entered here.
// Otherwise remembers that this process opens some.
[[nodiscard]] bool may_open_drivers() noexcept;

}  // namespace wye::registry
