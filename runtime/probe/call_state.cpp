// SPDX-License-Identifier: Apache-2.0
#include "call_state.hpp"

#include <fmt/format.h>

#include <cfenv>
#include <cstring>
#include <utility>

namespace wye::probe {
namespace {

std::uint64_t float_mode() {
    fenv_t now{};
    if (std::fegetenv(&now) != 0) return 0;
#if defined(__x86_64__)
    constexpr std::uint32_t kStickyFlags = 0x3f;
    return std::uint64_t{now.__control_word} << 32U | (now.__mxcsr & ~kStickyFlags);
#elif defined(__aarch64__)
    return now.__fpcr;
#else
    return static_cast<std::uint64_t>(std::fegetround());
#endif
}

// The state of a thread when it entered its outermost slot.
struct Entry {
    std::string slot;
    CallState state;
};
thread_local std::optional<Entry> entry;

std::string names_of(const std::set<int>& signals) {
    std::string out;
    for (const int signal : signals) {
        const char* const name = ::sigabbrev_np(signal);
        out += fmt::format(
            "{}{}", out.empty() ? "" : ", ",
            name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name));
    }
    return out;
}

}  // namespace

CallState CallState::look() {
    CallState out;
    for (int signal = 1; signal <= kSignals; ++signal) {
        struct sigaction now {};
        if (::sigaction(signal, nullptr, &now) != 0) continue;  // reserved by the C library
        // `sa_sigaction` and `sa_handler` are members of a union: the value stands for either of
        // them.
        out.handlers_[signal] = reinterpret_cast<std::uintptr_t>(now.sa_sigaction);
    }
    (void)::pthread_sigmask(SIG_SETMASK, nullptr, &out.mask_);
    (void)::sigaltstack(nullptr, &out.stack_);
    out.floats_ = float_mode();
    return out;
}

CallState::Changes CallState::until(const CallState& later) const {
    Changes out;
    for (int signal = 1; signal <= kSignals; ++signal) {
        if (handlers_[signal] != later.handlers_[signal]) out.handlers.insert(signal);
        if (::sigismember(&mask_, signal) != ::sigismember(&later.mask_, signal)) out.mask = true;
    }
    out.stack = stack_.ss_sp != later.stack_.ss_sp || stack_.ss_size != later.stack_.ss_size;
    out.floats = floats_ != later.floats_;
    return out;
}

void CallChanges::slot(std::string_view slot) {
    if (!slot.empty()) {
        if (!entry) entry = Entry{std::string(slot), CallState::look()};
    } else if (entry) {
        const Entry left = *std::exchange(entry, std::nullopt);
        add(left.state.until(CallState::look()), left.slot);
    }
}

void CallChanges::add(const CallState::Changes& changes, std::string_view where) {
    const sdk::Lock lock(mutex_);
    std::set<int> handlers;
    for (const int signal : changes.handlers)
        if (seen_.handlers.insert(signal).second) handlers.insert(signal);
    std::vector<std::string> said;
    const auto say = [&](std::string_view what) {
        said.push_back(fmt::format("{} in `{}`", what, where));
    };
    const auto is_new = [](bool now, bool& seen) { return now && !std::exchange(seen, true); };
    if (!handlers.empty()) say("replaces the handlers of " + names_of(handlers));
    if (is_new(changes.mask, seen_.mask)) say("changes the signal mask of its caller");
    if (is_new(changes.stack, seen_.stack)) say("changes the signal stack of its caller");
    if (is_new(changes.floats, seen_.floats)) say("changes the floating-point mode of its caller");
    for (std::string& text : said) texts_.push_back(std::move(text));
}

std::vector<std::string> CallChanges::texts() const {
    const sdk::Lock lock(mutex_);
    return texts_;
}

}  // namespace wye::probe
