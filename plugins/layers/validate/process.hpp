// SPDX-License-Identifier: Apache-2.0
//
// Finds changes to state that a slot must leave as it was (P-10). The state of the thread is
// compared in each call. The state of the process, which other threads may change meanwhile, is
// compared in calls that may load drivers.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

namespace wye::layers::validate {

class ThreadState {
  public:
    ThreadState() noexcept;
    // Returns the names of the parts that differ now, such as "the signal mask". Ignores the
    // alternate signal stack.
    [[nodiscard]] std::vector<const char*> changes() const;
    // Whether the alternate signal stack differs now.
    [[nodiscard]] bool has_other_stack() const;

  private:
    sigset_t mask_{};
    stack_t stack_{};
    std::uint32_t floats_ = 0;  // rounding, exceptions that trap, subnormals
    void* locale_ = nullptr;
};

class ProcessState {
  public:
    ProcessState();
    [[nodiscard]] std::vector<const char*> changes() const;
    // Returns the signals whose handlers differ now. The host restores handlers that drivers
    // replace.
    [[nodiscard]] std::vector<int> changed_handlers() const;

  private:
    static constexpr int kSignals = 31;
    std::string folder_, locale_;
    std::array<const void*, kSignals + 1> handlers_{};
};

}  // namespace wye::layers::validate
