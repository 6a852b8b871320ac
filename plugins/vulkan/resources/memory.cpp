// SPDX-License-Identifier: Apache-2.0
#include "vulkan/resources/memory.hpp"

namespace wye::vulkan {
namespace {

constexpr VkMemoryPropertyFlags kMapped =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags kSpecial =
    VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT | VK_MEMORY_PROPERTY_PROTECTED_BIT |
    VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD | VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD;

bool all_heaps_are_local(const VkPhysicalDeviceMemoryProperties& memory) {
    for (std::uint32_t h = 0; h < memory.memoryHeapCount; ++h)
        if ((memory.memoryHeaps[h].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) == 0) return false;
    return true;
}

// Rates a memory type: higher is better; 0: not usable.
int score(VkMemoryPropertyFlags flags, Placement placement, bool shared) {
    if ((flags & kSpecial) != 0) return 0;
    const bool local = (flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
    const bool mapped = (flags & kMapped) == kMapped;
    const bool cached = (flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0;
    if (placement == Placement::Upload) return mapped ? 1 + (cached ? 0 : 1) + (local ? 0 : 2) : 0;
    if (placement == Placement::Host) return mapped ? 1 + (cached ? 2 : 0) + (local ? 0 : 1) : 0;
    const bool wanted =
        shared ? mapped && cached : (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) == 0;
    return 1 + (local ? 2 : 0) + (wanted ? 1 : 0);
}

}  // namespace

std::optional<std::uint32_t> choose_memory_type(const VkPhysicalDeviceMemoryProperties& memory,
                                                std::uint32_t allowed, Placement placement) {
    const bool shared = all_heaps_are_local(memory);
    std::optional<std::uint32_t> best;
    int best_score = 0;
    for (std::uint32_t type = 0; type < memory.memoryTypeCount; ++type) {
        if ((allowed >> type & 1U) == 0) continue;
        const int now = score(memory.memoryTypes[type].propertyFlags, placement, shared);
        if (now <= best_score) continue;
        best = type;
        best_score = now;
    }
    return best;
}

}  // namespace wye::vulkan
