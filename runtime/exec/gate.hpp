// SPDX-License-Identifier: Apache-2.0
//
// Door: runs callbacks of the application until it is closed.
//
// CallbackScope: marks a thread that runs a callback of the application, so that calls from inside
// the callback that would deadlock are refused.
#pragma once

#include <cstdint>

#include "registry/gate.hpp"

namespace wye::exec {

using registry::Gate;

class Door {
  public:
    // Runs the callback, unless the door is closed.
    template <typename Callback>
    void through(Callback&& callback) {
        const Gate::Stay stay(gate_);
        if (stay.flags == 0) callback();
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

    // Whether this thread runs a callback of the context `owner`; null: of any context.
    [[nodiscard]] static bool within(const void* owner) noexcept;
    // Whether this thread runs a callback of `owner` that may call nothing (May::Nothing).
    [[nodiscard]] static bool forbids(const void* owner) noexcept;

  private:
    static thread_local const CallbackScope* innermost_;
    const void* owner_;
    May may_;
    const CallbackScope* outer_;
};

}  // namespace wye::exec
