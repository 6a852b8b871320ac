// SPDX-License-Identifier: Apache-2.0
//
// Target: a device on which cases are judged one by one, in a child process. A new child is started
// if a case has ended the child, has lost the device or has not ended. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "differential/child.hpp"
#include "support/case.hpp"
#include "support/referee.hpp"

namespace differential {

using support::Care;
using support::Case;
using support::Finding;

// The library's report of all devices, made in a child process. Empty: the child has ended.
[[nodiscard]] std::string report_of_devices();
// The selectors of all usable devices.
[[nodiscard]] std::vector<std::string> usable_devices();

struct TargetOptions {
    std::uint64_t timeout_ns = 0;  // of each dispatch
    std::vector<std::pair<std::string, std::string>> config = {};
    unsigned ends_after = 0;  // seconds that the child may take for one case; 0: no limit
};

class Target {
  public:
    // Opens the device. An error says why it cannot be opened.
    [[nodiscard]] static wye::Result<Target> open(const std::string& selector,
                                                  TargetOptions options);
    [[nodiscard]] static wye::Result<Target> open(const std::string& selector,
                                                  std::uint64_t timeout_ns) {
        return open(selector, TargetOptions{.timeout_ns = timeout_ns});
    }

    // The selector of this device alone, even if `open` was given a pattern.
    [[nodiscard]] const std::string& selector() const { return selector_; }
    // The random case of a seed for this device.
    [[nodiscard]] wye::Result<Case> random(std::uint64_t seed, bool traps);
    [[nodiscard]] Finding judge(const Case& what, const Care& care);
    // Sets the state of support::caller_states() in which later calls open the device and run
    // cases. State 0 changes nothing.
    void set_state(std::size_t state) { state_ = state; }
    // Ends the child. The next call starts another one.
    void close() { child_.reset(); }

  private:
    Target(std::string selector, TargetOptions options)
        : selector_(std::move(selector)), options_(std::move(options)) {}
    [[nodiscard]] wye::Result<void> start();

    std::string selector_;
    TargetOptions options_;
    std::optional<Child> child_;
    std::size_t state_ = 0;
};

}  // namespace differential
