// SPDX-License-Identifier: Apache-2.0
//
// A device that is judged case after case, and opened again when one of them made it unusable:
// lost, or still busy after the time limit. Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "conformance/device.hpp"
#include "differential/referee.hpp"

namespace differential {

class Target {
  public:
    // `timeout_ns`: for one dispatch.
    [[nodiscard]] static wye::Result<Target> open(const std::string& selector,
                                                  std::uint64_t timeout_ns);

    [[nodiscard]] const conformance::Device& device() const { return *device_; }
    [[nodiscard]] Finding judge(const Case& what, const Care& care);
    // A dispatch may still run. Then closing the device may wait for ever: leave the process
    // instead.
    [[nodiscard]] bool busy() const { return !left_.empty(); }

  private:
    Target(std::unique_ptr<conformance::Device> device, std::uint64_t timeout_ns)
        : device_(std::move(device)), timeout_ns_(timeout_ns) {}

    std::unique_ptr<conformance::Device> device_;
    std::vector<std::unique_ptr<conformance::Device>> left_;
    std::uint64_t timeout_ns_;
};

}  // namespace differential
