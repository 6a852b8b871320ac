// SPDX-License-Identifier: Apache-2.0
#include "registry/open/process_state.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include "registry/open/driver_objects.hpp"
#include "wye/sdk/mutex.hpp"

namespace wye::registry {
namespace {

// The address of a handler's code; null for SIG_DFL and SIG_IGN.
const void* code_of(const struct sigaction& action) noexcept {
    if ((action.sa_flags & SA_SIGINFO) == 0 &&
        (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN))
        return nullptr;
    // The union's wider member covers both forms of handler.
    return reinterpret_cast<const void*>(action.sa_sigaction);
}

// The application's handlers, as they were last seen. Global, since signal handlers are global.
class Handlers {
  public:
    void enter() noexcept {
        const sdk::Lock lock(mutex_);
        objects_.look(depth_++ > 0);
        for (int signal = 1; signal <= kSignals; ++signal) {
            struct sigaction now {};
            if (signal == SIGKILL || signal == SIGSTOP || ::sigaction(signal, nullptr, &now) != 0 ||
                is_driver(now))
                continue;
            actions_[static_cast<std::size_t>(signal)] = now;
            seen_ |= std::uint32_t{1} << signal;
        }
    }

    void leave() noexcept {
        const sdk::Lock lock(mutex_);
        --depth_;
        objects_.look(true);
        for (int signal = 1; signal <= kSignals; ++signal) {
            struct sigaction now {};
            if ((seen_ >> signal & 1U) != 0 && ::sigaction(signal, nullptr, &now) == 0 &&
                is_driver(now))
                replace(signal, actions_[static_cast<std::size_t>(signal)]);
        }
    }

    void add(const void* address) noexcept {
        const sdk::Lock lock(mutex_);
        objects_.add(address);
    }

  private:
    static constexpr int kSignals = 31;

    bool is_driver(const struct sigaction& action) const noexcept WYE_REQUIRES(mutex_) {
        const void* code = code_of(action);
        return code != nullptr && objects_.has(code);
    }

    // Replaces a handler. If another thread installed a handler meanwhile, restores that handler.
    void replace(int signal, const struct sigaction& by) const noexcept WYE_REQUIRES(mutex_) {
        struct sigaction replaced {};
        if (::sigaction(signal, &by, &replaced) == 0 && !is_driver(replaced))
            (void)::sigaction(signal, &replaced, nullptr);
    }

    sdk::Mutex mutex_;
    int depth_ WYE_GUARDED_BY(mutex_) = 0;  // the number of guards alive
    DriverObjects objects_ WYE_GUARDED_BY(mutex_);
    std::uint32_t seen_ WYE_GUARDED_BY(mutex_) = 0;  // bit n: actions_[n] has signal n's handler
    std::array<struct sigaction, kSignals + 1> actions_ WYE_GUARDED_BY(mutex_){};
};

// Never destroyed, since exit handlers may close contexts.
Handlers& handlers() noexcept {
    alignas(Handlers) static std::byte room[sizeof(Handlers)];
    static auto* const instance = new (room) Handlers;
    return *instance;
}

}  // namespace

ProcessStateGuard::ProcessStateGuard(bool active) noexcept : active_(active) {
    if (!active) return;
    handlers().enter();
    mask_saved_ = ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_) == 0;
    stack_saved_ = ::sigaltstack(nullptr, &stack_) == 0;
    // A stack of size zero is disabled, for which the system requires this flag.
    if (stack_saved_ && stack_.ss_size == 0) stack_.ss_flags = SS_DISABLE;
    floats_saved_ = std::fegetenv(&floats_) == 0;
}

ProcessStateGuard::~ProcessStateGuard() {
    if (!active_) return;
    if (floats_saved_) std::fesetenv(&floats_);
    stack_t now{};
    if (stack_saved_ && ::sigaltstack(nullptr, &now) == 0 &&
        (now.ss_sp != stack_.ss_sp || now.ss_size != stack_.ss_size ||
         now.ss_flags != stack_.ss_flags))
        ::sigaltstack(&stack_, nullptr);
    handlers().leave();
    // The signal mask comes last, so that a blocked signal is delivered to the application's
    // handler.
    if (mask_saved_) (void)::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
}

void count_as_driver(const void* address) noexcept { handlers().add(address); }

}  // namespace wye::registry
