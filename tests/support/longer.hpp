// SPDX-License-Identifier: Apache-2.0
//
// For tests of what happens while a call or work is still running: on a busy machine it may end
// before the test's next step, so the test tries again with more time.
#pragma once

#include <chrono>

namespace support {

// Calls attempt(time) with 100 ms, and then with twice as long each time, until it returns true:
// what took so long was still running at each step. False: it never was, up to a minute.
template <typename Attempt>
[[nodiscard]] bool with_longer_times(const Attempt& attempt) {
    using std::chrono::milliseconds;
    for (milliseconds time{100}; time < std::chrono::minutes(1); time *= 2)
        if (attempt(time)) return true;
    return false;
}

}  // namespace support
