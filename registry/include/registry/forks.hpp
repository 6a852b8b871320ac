// SPDX-License-Identifier: Apache-2.0
//
// Detects that an object was made before a fork, by a parent process. A forked child has only the
// forking thread, and drivers do not work in it: a queue hangs at its first use. Objects therefore
// store the count of forks when they are made, and compare it later.
//
// The counter is global, since a fork concerns the whole process. Forks are counted through
// pthread_atfork; children made by a raw `clone` system call are not detected.
#pragma once

#include <atomic>
#include <cstdint>

namespace wye::registry {

namespace detail {
extern std::atomic<std::uint32_t> forks;
}

// The number of forks, counted since `watch_forks`, that led to this process. Costs one load.
[[nodiscard]] inline std::uint32_t fork_count() noexcept {
    return detail::forks.load(std::memory_order_relaxed);
}

// Starts counting; later calls do nothing. Must be called before a count is stored.
void watch_forks() noexcept;

// Returns false in a child whose ancestor opened plugins, since drivers do not work there. Else
// records that this process opens plugins.
[[nodiscard]] bool may_open_drivers() noexcept;

}  // namespace wye::registry
