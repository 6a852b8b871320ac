// SPDX-License-Identifier: Apache-2.0
//
// Gate: counts the calls inside a context. To destroy the context the gate is closed: later calls
// are refused, and the closing thread waits until the last call has left. Entering and leaving are
// one atomic operation each, since every dispatch does both. The last thread to leave does not
// access the gate afterwards, so the gate may be freed as soon as it is empty.
//
// Door: runs callbacks of the application until it is closed.
//
// CallbackScope: marks a thread that runs a callback of the application, so that calls from inside
// it that would deadlock are refused.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace wye::exec {

class Gate {
  public:
    static constexpr std::uint32_t kClosed = UINT32_C(1) << 31U;
    // Set if the application has callbacks that may run inside calls.
    static constexpr std::uint32_t kWatched = UINT32_C(1) << 30U;

    // Returns the two flags. The caller must call leave, even if the gate was closed.
    [[nodiscard]] std::uint32_t enter() noexcept {
        return word_.fetch_add(1, std::memory_order_acquire) & (kClosed | kWatched);
    }
    void leave() noexcept {
        const std::uint32_t before = word_.fetch_sub(1, std::memory_order_release);
        if ((before & ~kWatched) == (kClosed | 1U)) [[unlikely]]
            wake();
    }
    void watch() noexcept { word_.fetch_or(kWatched, std::memory_order_relaxed); }
    // Returns false if it was already closed.
    [[nodiscard]] bool close() noexcept {
        return (word_.fetch_or(kClosed, std::memory_order_acq_rel) & kClosed) == 0;
    }
    // Waits until no call is inside the gate, which must be closed. False at the deadline.
    [[nodiscard]] bool wait_empty(
        std::optional<std::chrono::steady_clock::time_point> deadline = {}) noexcept;

  private:
    void wake() noexcept;
    std::atomic<std::uint32_t> word_{0};
};

class Door {
  public:
    // Runs the callback, unless the door is closed.
    template <typename Callback>
    void through(Callback&& callback) {
        struct Inside {
            explicit Inside(Gate& gate) noexcept : gate_(gate), flags(gate.enter()) {}
            ~Inside() { gate_.leave(); }
            Gate& gate_;
            std::uint32_t flags;
        };
        const Inside inside(gate_);
        if (inside.flags == 0) callback();
    }
    // Waits for running callbacks; afterwards no callback starts.
    void close() noexcept {
        (void)gate_.close();
        (void)gate_.wait_empty();
    }

  private:
    Gate gate_;
};

class CallbackScope {
  public:
    // Which functions a callback may call with its own context.
    enum class May : std::uint8_t { Nothing, AllButDestroy };

    // `owner`: the address of the callback's context.
    explicit CallbackScope(const void* owner, May may = May::Nothing) noexcept
        : owner_(owner), may_(may), outer_(innermost_) {
        innermost_ = this;
    }
    ~CallbackScope() { innermost_ = outer_; }
    CallbackScope(const CallbackScope&) = delete;
    CallbackScope& operator=(const CallbackScope&) = delete;

    // Whether this thread is running a callback of `owner`, or of any context if it is null.
    [[nodiscard]] static bool within(const void* owner) noexcept;
    // Whether it is running a callback that may call nothing (May::Nothing).
    [[nodiscard]] static bool forbids(const void* owner) noexcept;

  private:
    static thread_local const CallbackScope* innermost_;
    const void* owner_;
    May may_;
    const CallbackScope* outer_;
};

}  // namespace wye::exec
