// SPDX-License-Identifier: Apache-2.0
//
// ContextNumber: a number that no other living context of this process has: the lowest such number
// up to 63, or else a higher one that was never used. For the quirk pocl-shared-code.
// Free-threaded.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

namespace wye::opencl {

class ContextNumber {
  public:
    ContextNumber() {
        std::uint64_t taken = taken_.load();
        while (~taken != 0 && !taken_.compare_exchange_weak(taken, taken | (taken + 1))) {
        }
        value_ = ~taken != 0 ? static_cast<std::uint64_t>(std::countr_one(taken)) : next_++;
    }
    ~ContextNumber() {
        if (value_ < 64) taken_ &= ~(std::uint64_t{1} << value_);
    }
    ContextNumber(const ContextNumber&) = delete;
    ContextNumber& operator=(const ContextNumber&) = delete;

    [[nodiscard]] std::uint64_t get() const { return value_; }

  private:
    // Static, since the numbers tell apart contexts that share PoCL's process-wide state.
    static inline std::atomic<std::uint64_t> taken_{0}, next_{64};  // taken_: bits for 0 to 63
    std::uint64_t value_;
};

}  // namespace wye::opencl
