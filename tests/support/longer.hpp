// SPDX-License-Identifier: Apache-2.0
//
// For tests that act while a call or work is still running. On a busy machine, that call or work
// may end before the test's next step. The test then tries again with more time.
#pragma once

#include <chrono>

namespace support {

// Calls attempt(time) with 100 ms, and then with twice as long each time, until it returns true.
// False: no attempt with less than a minute has returned true.
template <typename Attempt>
[[nodiscard]] bool with_longer_times(const Attempt& attempt) {
    using std::chrono::milliseconds;
    for (milliseconds time{100}; time < std::chrono::minutes(1); time *= 2)
        if (attempt(time)) return true;
    return false;
}

}  // namespace support
