// SPDX-License-Identifier: Apache-2.0
//
// usable_processors(): how many processors the calling thread may run on, by its affinity mask; at
// least 1. std::thread::hardware_concurrency would count the processors of the machine, and read a
// file to do so. Free-threaded; nothing throws.
#pragma once

#include <sched.h>

#include <algorithm>
#include <thread>

namespace wye::sdk {

[[nodiscard]] inline unsigned usable_processors() noexcept {
    cpu_set_t set;
    CPU_ZERO(&set);
    // Fails on a machine with more than CPU_SETSIZE processors.
    if (::sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return static_cast<unsigned>(CPU_COUNT(&set));
    return std::max(std::thread::hardware_concurrency(), 1U);
}

}  // namespace wye::sdk
