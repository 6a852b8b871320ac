// SPDX-License-Identifier: Apache-2.0
//
// Bench: runs the modules of the self-test on an opened device, which must outlive it. One thread
// at a time.
#pragma once

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

    // quirk lavapipe-cache-width: modules for different vector widths must differ.
    std::uint32_t workgroup = 64;

    // One binding: its bytes are uploaded before the run and, if `reads_back`, downloaded after it.
    struct Argument {
        std::span<std::byte> bytes;
        bool reads_back = false;
    };
    [[nodiscard]] Result<void> run(const std::vector<std::uint32_t>& words,
                                   std::span<const Argument> arguments, std::uint32_t groups);

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
