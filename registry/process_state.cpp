// SPDX-License-Identifier: Apache-2.0
#include "registry/process_state.hpp"

#include <array>
#include <cstdint>
#include <mutex>

namespace wye::registry {
namespace {

bool same_handler(const struct sigaction& a, const struct sigaction& b) noexcept {
    // The union's wider member covers both forms of handler.
    return a.sa_sigaction == b.sa_sigaction && a.sa_flags == b.sa_flags;
}

// The handlers before the first of the guards alive now. One per process, as the handlers are.
class Handlers {
  public:
    void enter() noexcept {
        const std::lock_guard lock(mutex_);
        if (depth_++ > 0) return;
        saved_ = 0;
        for (int signal = 1; signal <= kSignals; ++signal) {
            if (signal == SIGKILL || signal == SIGSTOP) continue;
            if (::sigaction(signal, nullptr, &actions_[static_cast<std::size_t>(signal)]) == 0)
                saved_ |= std::uint32_t{1} << signal;
        }
    }

    void leave() noexcept {
        const std::lock_guard lock(mutex_);
        --depth_;
    }

    int restore() noexcept {
        const std::lock_guard lock(mutex_);
        int changed = 0;
        for (int signal = 1; signal <= kSignals; ++signal) {
            if ((saved_ >> signal & 1U) == 0) continue;
            const auto& before = actions_[static_cast<std::size_t>(signal)];
            struct sigaction now {};
            if (::sigaction(signal, nullptr, &now) != 0 || same_handler(before, now)) continue;
            if (::sigaction(signal, &before, nullptr) == 0) ++changed;
        }
        return changed;
    }

  private:
    static constexpr int kSignals = 31;
    std::mutex mutex_;
    int depth_ = 0;
    std::uint32_t saved_ = 0;  // bit n: actions_[n] holds signal n
    std::array<struct sigaction, kSignals + 1> actions_{};
};

Handlers& handlers() noexcept {
    static Handlers instance;
    return instance;
}

}  // namespace

ProcessStateGuard::ProcessStateGuard() noexcept {
    handlers().enter();
    stack_saved_ = ::sigaltstack(nullptr, &stack_) == 0;
    // A stack without a size is a disabled one; the system wants the flag for that.
    if (stack_saved_ && stack_.ss_size == 0) stack_.ss_flags = SS_DISABLE;
    floats_saved_ = std::fegetenv(&floats_) == 0;
}

ProcessStateGuard::~ProcessStateGuard() {
    restore();
    handlers().leave();
}

int ProcessStateGuard::restore() noexcept {
    const int changed = handlers().restore();
    stack_t now{};
    if (stack_saved_ && ::sigaltstack(nullptr, &now) == 0 &&
        (now.ss_sp != stack_.ss_sp || now.ss_size != stack_.ss_size ||
         now.ss_flags != stack_.ss_flags))
        ::sigaltstack(&stack_, nullptr);
    if (floats_saved_) std::fesetenv(&floats_);
    return changed;
}

}  // namespace wye::registry
