// SPDX-License-Identifier: Apache-2.0
//
// CallState: the state of the process and of the calling thread that a call of a plugin must not
// change. The library restores most of this state after a call (registry/open/process_state.hpp),
// so a probe must look at it earlier, at the end of each slot. CallChanges collects the changes.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "wye/sdk/mutex.hpp"

namespace wye::probe {

// Signal handlers of the process; signal mask, alternate stack and floating-point mode of the
// calling thread. A plain value.
class CallState {
  public:
    [[nodiscard]] static CallState look();

    struct Changes {
        std::set<int> handlers;  // signals whose handlers differ
        bool mask = false, stack = false, floats = false;
    };
    // The differences between this state and a later one of the same thread.
    [[nodiscard]] Changes until(const CallState& later) const;

  private:
    static constexpr int kSignals = 64;

    // How a signal is handled: the address of the handler, or SIG_DFL or SIG_IGN.
    std::uintptr_t handlers_[kSignals + 1] = {};
    sigset_t mask_{};
    stack_t stack_{};
    std::uint64_t floats_ = 0;  // rounding, flushing and traps, without the sticky flags
};

// CallChanges: collects the changes that calls of slots make. Free-threaded.
class CallChanges {
  public:
    // Called when a thread enters `slot` or, with an empty text, leaves its outermost slot. Of
    // nested slots, only the outermost one counts.
    void slot(std::string_view slot);
    // Adds the changes seen in `where`. If the same state changed before, only the first change is
    // kept.
    void add(const CallState::Changes& changes, std::string_view where);
    // Returns sentences such as "replaces the handlers of SIGINT, SIGTERM in `init`".
    [[nodiscard]] std::vector<std::string> texts() const;

  private:
    mutable sdk::Mutex mutex_;
    CallState::Changes seen_ WYE_GUARDED_BY(mutex_);
    std::vector<std::string> texts_ WYE_GUARDED_BY(mutex_);
};

}  // namespace wye::probe
