// SPDX-License-Identifier: Apache-2.0
//
// Layouts: pipeline layouts, shared by the programs of a device. Some drivers compile code for each
// new number of descriptors (quirk nvidia-vk-layout-compile), so only a few numbers are used: a
// layout may have more descriptors and push constants than a program uses. Unused descriptors are
// never written. Free-threaded.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>

#include "vulkan/handle.hpp"
#include "wye/sdk/layout_slots.hpp"
#include "wye/sdk/mutex.hpp"

namespace wye::vulkan {

class Device;

struct LayoutShape {
    std::uint32_t descriptors = 0;  // storage buffers, from binding 0
    std::uint32_t push_bytes = 0;
    auto operator<=>(const LayoutShape&) const = default;
};

// The shape of the layout for a program that needs `needed`: the number of descriptors is rounded
// up to a multiple of 8, within the device's limit. The push constants have the 128 bytes that
// every device supports, or the device's maximum if the program needs more.
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
    // Finds or makes a layout. The result is valid while the Layouts object lives.
    [[nodiscard]] Result<const Layout*> find(Device& device, const LayoutShape& needed);

    [[nodiscard]] sdk::LayoutCounts counts() const {
        const sdk::Lock lock(mutex_);
        return {made_.size(), shared_};
    }

  private:
    mutable sdk::Mutex mutex_;
    std::uint64_t shared_ WYE_GUARDED_BY(mutex_) = 0;
    std::map<LayoutShape, Layout> made_ WYE_GUARDED_BY(mutex_);
};

}  // namespace wye::vulkan
