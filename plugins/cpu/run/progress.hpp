// SPDX-License-Identifier: Apache-2.0
//
// Progress: the newest value that a queue's thread has ended, and the threads that wait for values.
// Free-threaded, except that one thread at a time calls `end`.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>

#include "wye/sdk/mutex.hpp"

namespace wye::cpu {

class Progress {
  public:
    [[nodiscard]] bool has_ended(std::uint64_t value) const {
        return ended_.load(std::memory_order_acquire) >= value;
    }
    // Marks `value`, which is above all earlier values, as ended. Wakes threads only if one of them
    // waits for `value` or a lower value. Allocates nothing.
    void end(std::uint64_t value) {
        // Either this thread sees the waiting thread's value in wanted_, or that thread sees
        // `value` in ended_.
        ended_.store(value, std::memory_order_seq_cst);
        if (wanted_.load(std::memory_order_seq_cst) <= value) [[unlikely]]
            wake();
    }
    // Waits until `value` has ended; false: timed out.
    [[nodiscard]] bool wait(std::uint64_t value, std::uint64_t timeout_ns);

  private:
    static constexpr std::uint64_t kNone = UINT64_MAX;

    // Whether `value` has ended. If not, `end` of this value will wake the waiting threads.
    [[nodiscard]] bool want(std::uint64_t value) WYE_REQUIRES(mutex_);
    [[gnu::cold]] void wake();

    std::atomic<std::uint64_t> ended_{0};
    std::atomic<std::uint64_t> wanted_{kNone};  // the lowest value waited for; guarded by mutex_
    sdk::WaitMutex mutex_;
    std::condition_variable changed_;  // notified when a value that was waited for has ended
};

}  // namespace wye::cpu
