// SPDX-License-Identifier: Apache-2.0
//
// Bench: runs the modules of the self-test on an opened device, which must outlive the bench. One
// thread at a time.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "vulkan/device.hpp"
#include "vulkan/queue.hpp"

namespace wye::vulkan {

// More iterations than lavapipe lets a loop run.
inline constexpr std::uint32_t kTriedRounds = 70000;

class Bench {
  public:
    [[nodiscard]] static Result<std::unique_ptr<Bench>> create(Device& device);

    // The workgroup size of the modules. It depends on the device's vector width, since modules for
    // different widths must differ (quirk lavapipe-cache-width).
    std::uint32_t workgroup = 64;

    // One binding: its bytes are uploaded before the run and, if `reads_back`, downloaded after it.
    struct Argument {
        std::span<std::byte> bytes;
        bool reads_back = false;
    };
    // Runs a module `times` times. Returns the shortest time from a submit to its end.
    [[nodiscard]] Result<std::chrono::nanoseconds> run(const std::vector<std::uint32_t>& words,
                                                       std::span<const Argument> arguments,
                                                       std::uint32_t groups, unsigned times = 1);

  private:
    explicit Bench(Device& device) : device_(device) {}

    Device& device_;
    std::unique_ptr<Queue> queue_;
};

template <typename T>
[[nodiscard]] std::span<std::byte> bytes_of(std::vector<T>& values) {
    return std::as_writable_bytes(std::span(values));
}

}  // namespace wye::vulkan
