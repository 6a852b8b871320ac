// SPDX-License-Identifier: Apache-2.0
//
// The layouts of pipelines, shared by the programs of a device. Some drivers compile what they need
// for a new number of descriptors (quirk nvidia-vk-layout-compile), so few numbers are made:
// a layout may have more descriptors and push constants than a program uses, and those that no
// program names are never written. [FREE].
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>

#include "vulkan/handle.hpp"
#include "wye/sdk/mutex.hpp"

namespace wye::vulkan {

class Device;

struct LayoutShape {
    std::uint32_t descriptors = 0;  // storage buffers, bindings 0 and on
    std::uint32_t push_bytes = 0;
    auto operator<=>(const LayoutShape&) const = default;
};

// The shape that serves `needed`: whole eights of descriptors, and the bytes of push constants that
// every device has (128), as far as the limits go.
[[nodiscard]] inline LayoutShape served_by(const LayoutShape& needed,
                                           const VkPhysicalDeviceLimits& limits) {
    constexpr std::uint32_t kStep = 8, kPushEverywhere = 128;
    const std::uint32_t most =
        std::min(limits.maxPerStageDescriptorStorageBuffers, limits.maxDescriptorSetStorageBuffers);
    const std::uint32_t eights = std::max((needed.descriptors + kStep - 1) / kStep, 1U) * kStep;
    return {std::max(std::min(eights, most), needed.descriptors),
            needed.push_bytes <= kPushEverywhere ? kPushEverywhere : limits.maxPushConstantsSize};
}

class Layouts {
  public:
    struct Layout {
        std::uint32_t descriptors = 0;
        SetLayoutHandle set;
        PipelineLayoutHandle pipeline;
    };
    // Lives as long as this does.
    [[nodiscard]] Result<const Layout*> find(Device& device, const LayoutShape& needed);

  private:
    sdk::Mutex mutex_;
    std::map<LayoutShape, Layout> made_ WYE_GUARDED_BY(mutex_);
};

}  // namespace wye::vulkan
