// SPDX-License-Identifier: Apache-2.0
//
// Physical devices in the loader's order, and what they say of themselves. Made once by the probe,
// then immutable and free-threaded. No VkDevice is created.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vulkan/setup/features.hpp"

namespace wye::vulkan {

// What the facts and the rest of the plugin need of Vulkan's property structures.
struct Properties {
    VkPhysicalDeviceProperties core{};
    VkPhysicalDeviceIDProperties id{};
    VkPhysicalDeviceMaintenance3Properties maintenance3{};
    VkPhysicalDeviceSubgroupProperties subgroup{};
    // Zero where the device does not have them.
    VkPhysicalDeviceDriverProperties driver{};
    VkPhysicalDeviceFloatControlsProperties float_controls{};
    VkPhysicalDeviceSubgroupSizeControlProperties subgroup_size{};
    VkPhysicalDeviceMaintenance4Properties maintenance4{};
    VkPhysicalDevicePCIBusInfoPropertiesEXT pci{};
};

// The family of queues that all of the plugin's queues come from.
struct QueueFamily {
    std::uint32_t index = 0;
    std::uint32_t count = 0;           // 0: the device cannot compute
    std::uint32_t timestamp_bits = 0;  // 0: no timestamps
};

struct Device {
    VkPhysicalDevice handle = VK_NULL_HANDLE;
    Properties properties;
    Features features;  // as the device has them; its chain is not linked
    VkPhysicalDeviceMemoryProperties memory{};
    QueueFamily family;
    std::vector<std::string> extensions;

    std::string name, vendor, driver, platform, version, kind;
    std::string pci_address, uuid, luid;        // empty: not reported
    std::vector<std::uint64_t> subgroup_sizes;  // that a pipeline can require; ascending

    // Why it cannot be used; empty: usable.
    std::string reason, fix;

    [[nodiscard]] bool usable() const { return reason.empty(); }
    [[nodiscard]] bool has_extension(std::string_view extension) const;
    // Whether a feature's structure is known: by extension, or by a version that contains it.
    [[nodiscard]] bool has(std::string_view extension, std::uint32_t version_with_it) const;
    // All subgroup operations of the language, on all of its types, at a width that can be
    // required.
    [[nodiscard]] bool has_subgroups() const;
    [[nodiscard]] bool unified_memory() const;             // the device has no memory of its own
    [[nodiscard]] std::uint64_t memory_bytes() const;      // all device-local heaps
    [[nodiscard]] std::uint64_t max_buffer_bytes() const;  // of one bound range
};

// NO_DEVICE when no driver has a device.
[[nodiscard]] Result<std::vector<Device>> discover(const InstanceTable& table, VkInstance instance);

}  // namespace wye::vulkan
