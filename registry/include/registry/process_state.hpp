// SPDX-License-Identifier: Apache-2.0
//
// ProcessStateGuard: puts back what drivers change behind the application's back. PoCL and LLVM
// replace 15 signal handlers and the calling thread's alternate stack at the first device query or
// the first build; some libraries set flush-to-zero. The guard saves signal actions 1 to 31, this
// thread's alternate stack and its floating-point environment (MXCSR included), and its destructor
// restores those that differ.
//
// Handlers belong to the process: an application that installs one on another thread while a guard
// is alive may lose it, so guards are held only around a plugin's init, first probe and builds. The
// guard is made and destroyed on one thread. It cannot fail; what cannot be saved is left alone.
#pragma once

#include <array>
#include <cfenv>
#include <csignal>
#include <cstdint>

namespace wye::registry {

class ProcessStateGuard {
  public:
    ProcessStateGuard() noexcept;
    ~ProcessStateGuard();
    ProcessStateGuard(const ProcessStateGuard&) = delete;
    ProcessStateGuard& operator=(const ProcessStateGuard&) = delete;

    // Puts everything back now; the destructor then finds nothing to do. Returns the number of
    // signal handlers that had changed.
    int restore() noexcept;

  private:
    static constexpr int kSignals = 31;
    std::array<struct sigaction, kSignals + 1> actions_{};
    std::uint32_t saved_ = 0;  // bit n: actions_[n] holds signal n
    stack_t stack_{};
    bool stack_saved_ = false;
    fenv_t floats_{};
    bool floats_saved_ = false;
};

}  // namespace wye::registry
