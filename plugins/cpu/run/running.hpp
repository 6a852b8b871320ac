// SPDX-License-Identifier: Apache-2.0
//
// Running: the value that the submitting thread runs itself, and requests to stop it.
#pragma once

#include "cpu/run/run.hpp"

namespace wye::cpu {

class Running {
  public:
    // Called by the submitting thread, which runs `value` from here on.
    void begin(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
    // Called by any thread. Requests a stop if the value is in [first, last].
    void cancel(std::uint64_t first, std::uint64_t last) {
        const std::uint64_t value = value_.load(std::memory_order_relaxed);
        if (first <= value && value <= last) cancelled_.store(value, std::memory_order_relaxed);
    }
    [[nodiscard]] Stop stop(std::uint64_t value) const { return {&cancelled_, value}; }

  private:
    std::atomic<std::uint64_t> value_{0}, cancelled_{0};
};

}  // namespace wye::cpu
