// SPDX-License-Identifier: Apache-2.0
//
// Device: a device under test, used through the public API only. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wye/wye.hpp"

namespace support {

// A buffer of a launch, in binding order. `bytes`: the content. If the buffer is only an output,
// only the size of `bytes` counts.
struct Binding {
    std::string name;
    bool input = false;
    bool output = false;
    std::vector<std::byte> bytes;
};

struct Launch {
    std::vector<std::uint64_t> params;                   // bits of each, in declared order
    std::optional<std::array<std::uint32_t, 3>> groups;  // unset: from the program's grid clause
    std::vector<Binding> buffers;
};

// The result of a launch that may trap.
struct Ending {
    std::uint32_t trap_code = 0;  // the largest code; 0: no trap
    std::uint32_t trap_count = 0;
    bool delivered = false;  // whether any byte of an output's storage was written
    std::vector<std::vector<std::byte>> bytes;  // of each buffer; unspecified after a trap
};

class Device {
  public:
    // Opens the device that the selector names. `config`: the host's configuration for plugins.
    // `plugin`: the file of a plugin that is searched for the device first; may be empty.
    static wye::Result<Device> open(const std::string& selector,
                                    const std::vector<std::pair<std::string, std::string>>& config,
                                    const std::string& plugin = {});

    [[nodiscard]] const std::string& selector() const { return selector_; }
    [[nodiscard]] const wye::Context& context() const { return context_; }
    // Whether the device reports this capability as true.
    [[nodiscard]] bool has(const std::string& name) const;
    // A limit; `unknown` if the device does not report it.
    [[nodiscard]] std::uint64_t limit(const std::string& name, std::uint64_t unknown) const;
    // A limit of three axes; 1 each if the device does not report it.
    [[nodiscard]] std::array<std::uint32_t, 3> axes(const std::string& name) const;
    // The widths of the device's subgroups; empty: it has no subgroups.
    [[nodiscard]] std::vector<std::uint32_t> subgroup_sizes() const;

    // A capability that the program needs and the device does not report; empty: none.
    [[nodiscard]] std::string lacks(const wye::Program& program) const;

    // Sets the time limit of each later dispatch; 0: none.
    void give_up_after(std::uint64_t nanoseconds) { timeout_ns_ = nanoseconds; }

    // Runs all dispatches in order, and returns the bytes of each buffer. `resident`: the buffers
    // stay on the device from the first dispatch to the last, and outputs begin with arbitrary
    // contents.
    [[nodiscard]] wye::Result<std::vector<std::vector<std::byte>>> run(
        const wye::Program& program, const std::vector<Launch>& launches, bool resident) const;

    // Runs one dispatch, which may trap, on host memory. Any other failure is returned as an error.
    [[nodiscard]] wye::Result<Ending> run_to_trap(const wye::Program& program,
                                                  const Launch& launch) const;

  private:
    [[nodiscard]] wye_fact fact(const std::string& name) const;  // type NONE: not reported
    Device(wye::Context context, wye::Device device, std::string selector)
        : context_(std::move(context)),
          device_(std::move(device)),
          selector_(std::move(selector)) {}
    [[nodiscard]] wye::Result<void> run_host(const wye::Program& program, const Launch& launch,
                                             std::vector<std::vector<std::byte>>& bytes) const;
    [[nodiscard]] wye::Result<void> run_resident(const wye::Program& program,
                                                 const std::vector<Launch>& launches,
                                                 std::vector<std::vector<std::byte>>& bytes) const;

    wye::Context context_;
    wye::Device device_;
    std::string selector_;
    std::uint64_t timeout_ns_ = 0;
};

}  // namespace support
