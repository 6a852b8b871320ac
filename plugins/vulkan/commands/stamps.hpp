// SPDX-License-Identifier: Apache-2.0
//
// Stamps: two timestamps, with a command buffer for each. The two command buffers are recorded
// once, and submitted before and after the command buffers of a timed segment. So the segment's own
// command buffers need no timestamps. Used by one pending segment at a time.
#pragma once

#include <array>
#include <memory>

#include "vulkan/device.hpp"

namespace wye::vulkan {

// Converts a timestamp to nanoseconds of the device's clock.
[[nodiscard]] std::uint64_t nanoseconds_of(const DeviceInfo& info, std::uint64_t ticks);

class Stamps {
  public:
    // Makes timestamps for a lane whose queues support them.
    [[nodiscard]] static Result<std::unique_ptr<Stamps>> create(Device& device, Lane lane);
    // Must be called before each use.
    void reset();

    [[nodiscard]] VkCommandBuffer before() const { return buffers_[0]; }
    [[nodiscard]] VkCommandBuffer after() const { return buffers_[1]; }

    // When the first command began and the last command ended, in nanoseconds of the device's
    // clock.
    struct Times {
        std::uint64_t begin = 0, end = 0;
    };
    // Both command buffers must have run.
    [[nodiscard]] Result<Times> times() const;

  private:
    explicit Stamps(Device& device) : device_(device) {}
    [[nodiscard]] bool resets_by_host() const {
        return device_.info.features.host_resets.hostQueryReset != VK_FALSE;
    }
    Result<void> record();

    Device& device_;
    CommandPoolHandle pool_;
    QueryPoolHandle queries_;
    std::array<VkCommandBuffer, 2> buffers_{};  // freed with their pool
};

}  // namespace wye::vulkan
