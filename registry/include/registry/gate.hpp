// SPDX-License-Identifier: Apache-2.0
//
// Gate: counts the calls inside an object, such as a context or a device. Before the object ends,
// its gate is closed: later calls are refused, and the closing thread waits until the last call has
// left. Entering and leaving are one atomic operation each, since every dispatch enters its
// context. The last thread to leave does not access the gate afterwards, so the gate may be freed
// as soon as it is empty. Free-threaded.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace wye::registry {

class Gate {
  public:
    static constexpr std::uint32_t kClosed = UINT32_C(1) << 31U;
    // Set if the application has callbacks that may run inside calls.
    static constexpr std::uint32_t kWatched = UINT32_C(1) << 30U;

    // Returns the flags, kClosed and kWatched, that are set. The caller must call `leave` later,
    // even if the gate was closed.
    [[nodiscard]] std::uint32_t enter() noexcept {
        return word_.fetch_add(1, std::memory_order_acquire) & (kClosed | kWatched);
    }
    void leave() noexcept {
        const std::uint32_t before = word_.fetch_sub(1, std::memory_order_release);
        if ((before & ~kWatched) == (kClosed | 1U)) [[unlikely]]
            wake();
    }
    void watch() noexcept { word_.fetch_or(kWatched, std::memory_order_relaxed); }
    // Returns false if the gate was already closed.
    [[nodiscard]] bool close() noexcept {
        return (word_.fetch_or(kClosed, std::memory_order_acq_rel) & kClosed) == 0;
    }
    // Waits until no call is inside the gate, which must be closed. Returns false if the deadline
    // passes before that.
    [[nodiscard]] bool wait_empty(
        std::optional<std::chrono::steady_clock::time_point> deadline = {}) noexcept;

    // Enters the gate, and leaves it in the destructor. `flags`: the result of `enter`.
    class Stay {
      public:
        explicit Stay(Gate& gate) noexcept : gate_(gate), flags(gate.enter()) {}
        ~Stay() { gate_.leave(); }
        Stay(const Stay&) = delete;
        Stay& operator=(const Stay&) = delete;

      private:
        Gate& gate_;

      public:
        const std::uint32_t flags;
    };

  private:
    void wake() noexcept;
    std::atomic<std::uint32_t> word_{0};
};

}  // namespace wye::registry
