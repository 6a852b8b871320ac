// SPDX-License-Identifier: Apache-2.0
//
// ProcessStateGuard: puts back what drivers change behind the application's back. PoCL and LLVM
// replace 15 signal handlers and the calling thread's alternate stack at the first device query or
// the first build; some libraries set flush-to-zero. A guard saves signal actions 1 to 31, this
// thread's alternate stack and its floating-point environment (MXCSR included), and its destructor
// restores those that differ.
//
// Handlers belong to the process, so guards on several threads share one picture of them: the one
// that the first guard took, until the last is gone. An application that installs a handler while a
// guard is alive may lose it, so guards are held only around a plugin's init, first probe and
// builds. A guard is made and destroyed on one thread; no lock is held in between. It cannot fail;
// what cannot be saved is left alone.
#pragma once

#include <cfenv>
#include <csignal>

namespace wye::registry {

class ProcessStateGuard {
  public:
    ProcessStateGuard() noexcept;
    ~ProcessStateGuard();
    ProcessStateGuard(const ProcessStateGuard&) = delete;
    ProcessStateGuard& operator=(const ProcessStateGuard&) = delete;

    // Puts everything back now, and again when destroyed. Returns the number of signal handlers
    // that had changed.
    int restore() noexcept;

  private:
    stack_t stack_{};
    bool stack_saved_ = false;
    fenv_t floats_{};
    bool floats_saved_ = false;
};

}  // namespace wye::registry
