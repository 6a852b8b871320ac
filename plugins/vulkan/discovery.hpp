// SPDX-License-Identifier: Apache-2.0
//
// `discover` lists the physical devices in the loader's order, with their properties, and creates
// no VkDevice. The probe makes the list once. From then on the list is immutable, and any thread
// may read it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vulkan/self_test/verdict.hpp"
#include "vulkan/setup/features.hpp"
#include "wye/sdk/device_info.hpp"

namespace wye::vulkan {

// The members of Vulkan's property structures that the plugin uses.
struct Properties {
    VkPhysicalDeviceProperties core{};
    VkPhysicalDeviceIDProperties id{};
    VkPhysicalDeviceMaintenance3Properties maintenance3{};
    VkPhysicalDeviceSubgroupProperties subgroup{};
    // The following structures are zero if the device does not report them.
    VkPhysicalDeviceDriverProperties driver{};
    VkPhysicalDeviceFloatControlsProperties float_controls{};
    VkPhysicalDeviceSubgroupSizeControlProperties subgroup_size{};
    VkPhysicalDeviceMaintenance4Properties maintenance4{};
    VkPhysicalDeviceDescriptorIndexingProperties indexing{};
    VkPhysicalDevicePCIBusInfoPropertiesEXT pci{};
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host_memory{};
    VkPhysicalDeviceDrmPropertiesEXT drm{};
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV processors_nv{};
    VkPhysicalDeviceShaderCorePropertiesAMD processors_amd{};
};

// A queue family that the plugin uses.
struct QueueFamily {
    std::uint32_t index = 0;
    std::uint32_t count = 0;           // 0: the device has no such family
    std::uint32_t timestamp_bits = 0;  // 0: no timestamps
    bool computes_only = false;        // no graphics
};

struct DeviceInfo : sdk::DeviceInfo {
    VkPhysicalDevice handle = VK_NULL_HANDLE;
    Properties properties;
    Features features;  // supported by the device; not linked to a chain
    VkPhysicalDeviceMemoryProperties memory{};
    QueueFamily family;  // for compute
    // A family that can only copy. Its engines run in parallel with compute work.
    QueueFamily transfers;
    std::vector<std::string> extensions;
    bool reads_clock = false;  // the host can read the clock of the device's timestamps
    // Whether modules may declare DenormPreserve even if the device does not advertise the mode.
    // True if a probe found that the mode works, if this process is itself a probe, or if the host
    // makes no probes.
    bool unadvertised_denorm = false;

    std::string vendor, driver, platform, version, kind;
    std::string pci_address, uuid, luid;        // empty: not reported
    std::string render_node, conformance;       // empty: not reported
    std::string matrix_sizes;                   // the text of the fact; empty: not reported
    std::uint64_t compute_queues = 0;           // queues that compute, in all families
    std::uint64_t free_bytes = 0;               // at the time of the probe; 0: unknown
    std::vector<std::uint64_t> subgroup_sizes;  // widths that a pipeline can require; ascending

    [[nodiscard]] bool has_extension(std::string_view extension) const;
    // Whether the device supports a structure of features or properties: through its extension, or
    // through a Vulkan version that includes the extension.
    [[nodiscard]] bool has(std::string_view extension, std::uint32_t version_with_it) const;
    // Whether the device supports all subgroup operations of the language, for all its types, at a
    // width that a pipeline can require.
    [[nodiscard]] bool has_subgroups() const;
    // Whether descriptor sets can be written after command buffers that bind them were recorded.
    [[nodiscard]] bool rewrites_descriptors() const;
    // Whether submits of copies alone can have timestamps on a queue that only copies. Such a queue
    // cannot reset timestamps, so the host must be able to reset them.
    [[nodiscard]] bool times_transfers() const {
        return features.host_resets.hostQueryReset != VK_FALSE &&
               transfers.timestamp_bits == family.timestamp_bits;
    }
    // The alignment of every buffer, on the device and in the host's mapping: a buffer begins at
    // the start of an allocation, which is mapped as a whole.
    [[nodiscard]] std::uint64_t most_alignment() const {
        const VkPhysicalDeviceLimits& limits = properties.core.limits;
        return std::max<std::uint64_t>(limits.minMemoryMapAlignment,
                                       limits.minStorageBufferOffsetAlignment);
    }
    // The alignment that memory of the application needs to be registered; 0 without
    // VK_EXT_external_memory_host.
    [[nodiscard]] std::uint64_t host_memory_alignment() const {
        return properties.host_memory.minImportedHostPointerAlignment;
    }
    [[nodiscard]] bool unified_memory() const;             // the device has no memory of its own
    [[nodiscard]] std::uint64_t memory_bytes() const;      // sum of all device-local heaps
    [[nodiscard]] std::uint64_t max_buffer_bytes() const;  // largest range that can be bound
    [[nodiscard]] std::uint64_t compute_units() const;     // 0: not reported
};

// NO_DEVICE if no driver reports a device.
[[nodiscard]] Result<std::vector<DeviceInfo>> discover(const InstanceTable& table,
                                                       VkInstance instance);

// Free memory of all device-local heaps; UINT64_MAX without VK_EXT_memory_budget.
[[nodiscard]] std::uint64_t free_bytes(const InstanceTable& table, const DeviceInfo& info);

// Whether the value of a fact comes from the self-test.
[[nodiscard]] bool needs_self_test(std::uint32_t key);

// Writes one fact of the table in wye/abi.h. `verdict` is used only if needs_self_test(key).
[[nodiscard]] wye_status fact(const DeviceInfo& info, const Verdict& verdict, std::uint32_t key,
                              wye_fact& out);

}  // namespace wye::vulkan
