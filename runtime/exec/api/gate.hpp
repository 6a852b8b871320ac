// SPDX-License-Identifier: Apache-2.0
//
// Gate: counts the calls inside a context, and is closed to destroy it: later calls are refused,
// and the closing thread waits until the last call has left. Entering and leaving are one atomic
// operation each, since every dispatch does both. The last thread to leave does not access the gate
// afterwards, so the gate may be freed as soon as it is empty.
//
// CallbackScope: marks a thread that runs a callback of the application, so that calls from inside
// it are refused and do not deadlock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace wye::exec {

class Gate {
  public:
    static constexpr std::uint32_t kClosed = UINT32_C(1) << 31U;
    // Whether the application has callbacks that may run inside calls.
    static constexpr std::uint32_t kWatched = UINT32_C(1) << 30U;

    // Returns the two flags as they were before. The caller must leave again, even if the gate was
    // closed.
    [[nodiscard]] std::uint32_t enter() noexcept {
        return word_.fetch_add(1, std::memory_order_acquire) & (kClosed | kWatched);
    }
    void leave() noexcept {
        const std::uint32_t before = word_.fetch_sub(1, std::memory_order_release);
        if ((before & ~kWatched) == (kClosed | 1U)) [[unlikely]]
            wake();
    }
    void watch() noexcept { word_.fetch_or(kWatched, std::memory_order_relaxed); }
    // False if it was closed before.
    [[nodiscard]] bool close() noexcept {
        return (word_.fetch_or(kClosed, std::memory_order_acq_rel) & kClosed) == 0;
    }
    // Waits until no call is inside a closed gate. False at the deadline.
    [[nodiscard]] bool wait_empty(
        std::optional<std::chrono::steady_clock::time_point> deadline = {}) noexcept;

  private:
    void wake() noexcept;
    std::atomic<std::uint32_t> word_{0};
};

class CallbackScope {
  public:
    // `owner`: the address of the callback's context.
    explicit CallbackScope(const void* owner) noexcept : owner_(owner), outer_(innermost_) {
        innermost_ = this;
    }
    ~CallbackScope() { innermost_ = outer_; }
    CallbackScope(const CallbackScope&) = delete;
    CallbackScope& operator=(const CallbackScope&) = delete;

    // Whether this thread runs a callback of `owner`.
    [[nodiscard]] static bool within(const void* owner) noexcept;

  private:
    static thread_local const CallbackScope* innermost_;
    const void* owner_;
    const CallbackScope* outer_;
};

}  // namespace wye::exec
