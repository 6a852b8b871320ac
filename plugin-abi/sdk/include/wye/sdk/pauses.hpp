// SPDX-License-Identifier: Apache-2.0
//
// Pauses: growing pauses between the polls of a thread whose driver cannot wait. One thread at a
// time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

namespace wye::sdk {

class Pauses {
  public:
    // Sleeps for 2 us the first time, then twice as long each time, up to 0.5 ms; never longer than
    // `limit_ns`.
    void sleep(std::uint64_t limit_ns = UINT64_MAX) {
        std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(next_ns_, limit_ns)));
        next_ns_ = std::min(next_ns_ * 2, kLongestNs);
    }

  private:
    static constexpr std::uint64_t kLongestNs = 500000;
    std::uint64_t next_ns_ = 2000;
};

}  // namespace wye::sdk
