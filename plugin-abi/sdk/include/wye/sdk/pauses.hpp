// SPDX-License-Identifier: Apache-2.0
//
// The growing pauses of a thread that asks a driver again and again, since the driver cannot wait.
// One thread at a time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

namespace wye::sdk {

class Pauses {
  public:
    // Sleeps, at most for `limit_ns`: 2 us the first time, then twice as long each time, up to
    // 0.5 ms.
    void sleep(std::uint64_t limit_ns = UINT64_MAX) {
        std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(next_ns_, limit_ns)));
        next_ns_ = std::min(next_ns_ * 2, kLongestNs);
    }

  private:
    static constexpr std::uint64_t kLongestNs = 500000;
    std::uint64_t next_ns_ = 2000;
};

}  // namespace wye::sdk
