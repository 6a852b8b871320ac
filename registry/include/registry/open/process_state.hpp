// SPDX-License-Identifier: Apache-2.0
//
// ProcessStateGuard: restores process state that a plugin or its driver changes during a call.
// Drivers with LLVM replace 15 signal handlers and the calling thread's alternate stack at the
// first device query or the first build; some libraries set flush-to-zero, or block signals.
//
// The guard restores the calling thread's signal mask, alternate stack and floating-point
// environment (including MXCSR). For the process, it replaces those handlers of signals 1 to 31
// whose code is in a driver's library (registry/open/driver_objects.hpp) by the last handler seen
// that was not a driver's. Handlers of the application stay, whichever thread installs them, at any
// time. SIG_DFL and SIG_IGN have no code, so the guard cannot know that a driver set them: they
// stay too.
//
// If another thread installs a handler between the guard's check and its replacement, the guard
// restores that handler. If, during one guard, the application installs a handler and the driver
// replaces it, the guard restores the handler that was there before both.
//
// A guard is made and destroyed on one thread; guards may overlap, on one thread or several, and
// hold no lock. It cannot fail; state that cannot be saved is left alone.
#pragma once

#include <cfenv>
#include <csignal>

namespace wye::registry {

class ProcessStateGuard {
  public:
    // Does nothing unless `active`: built-in plugins need no guard, as they change no state.
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

// Marks the library with `address` as a driver's, for plugins that are loaded before they are
// opened.
void count_as_driver(const void* address) noexcept;

}  // namespace wye::registry
