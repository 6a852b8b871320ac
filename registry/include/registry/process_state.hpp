// SPDX-License-Identifier: Apache-2.0
//
// ProcessStateGuard: puts back what a plugin or its driver changed during a call. Drivers with LLVM
// replace 15 signal handlers and the calling thread's alternate stack at the first device query or
// the first build; some libraries set flush-to-zero, or block signals.
//
// Of the calling thread, the guard restores the signal mask, the alternate stack and the
// floating-point environment (MXCSR included). Of the process, it takes away handlers of signals 1
// to 31 whose code lies in a driver's library, and only those (registry/driver_objects.hpp). The
// handler that comes back is the last one seen that was not a driver's. A handler of the
// application stays, whichever thread installs it and whenever. SIG_DFL and SIG_IGN have no code,
// so a driver that sets them cannot be told from the application: they stay too.
//
// Between the look at a handler and its replacement another thread may install one; the guard sees
// that from what it replaced, and puts it back. A handler that the application installs during a
// guard and the driver replaces during the same guard cannot be known: the one before it comes
// back.
//
// A guard is made and destroyed on one thread; guards may overlap, on one thread or several, and no
// lock is held while one is alive. It cannot fail; what cannot be saved is left alone.
#pragma once

#include <cfenv>
#include <csignal>

namespace wye::registry {

class ProcessStateGuard {
  public:
    // `active`: false for a built-in plugin, which changes nothing: the guard then does nothing.
    explicit ProcessStateGuard(bool active = true) noexcept;
    ~ProcessStateGuard();
    ProcessStateGuard(const ProcessStateGuard&) = delete;
    ProcessStateGuard& operator=(const ProcessStateGuard&) = delete;

  private:
    bool active_;
    bool mask_saved_ = false;
    bool stack_saved_ = false;
    bool floats_saved_ = false;
    sigset_t mask_{};
    stack_t stack_{};
    fenv_t floats_{};
};

// Counts the library with `address` among the drivers': a plugin that was in the process before it
// was opened.
void count_as_driver(const void* address) noexcept;

}  // namespace wye::registry
