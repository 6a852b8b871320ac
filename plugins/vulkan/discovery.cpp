// SPDX-License-Identifier: Apache-2.0
#include "vulkan/discovery.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <span>

#include "vulkan/status.hpp"
#include "wye/sdk/numbers.hpp"

namespace wye::vulkan {
namespace {

std::string version_text(std::uint32_t version) {
    return std::to_string(VK_API_VERSION_MAJOR(version)) + "." +
           std::to_string(VK_API_VERSION_MINOR(version)) + "." +
           std::to_string(VK_API_VERSION_PATCH(version));
}

// The name of the vendor with this PCI or Khronos vendor id; empty: unknown id.
std::string vendor_text(std::uint32_t id) {
    switch (id) {
        case 0x1002:
            return "AMD";
        case 0x1010:
            return "Imagination Technologies";
        case 0x106b:
            return "Apple";
        case 0x10de:
            return "NVIDIA";
        case 0x13b5:
            return "Arm";
        case 0x14e4:
            return "Broadcom";
        case 0x1af4:
            return "virtio";
        case 0x5143:
            return "Qualcomm";
        case 0x8086:
            return "Intel";
        case VK_VENDOR_ID_MESA:
            return "Mesa";
        default:
            return {};
    }
}

std::string kind_text(VkPhysicalDeviceType type) {
    switch (type) {
        case VK_PHYSICAL_DEVICE_TYPE_CPU:
            return "cpu";
        case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
            return "gpu";
        default:
            return "other";
    }
}

std::vector<std::string> extensions_of(const InstanceTable& table, VkPhysicalDevice handle) {
    std::uint32_t count = 0;
    std::vector<VkExtensionProperties> found;
    VkResult result = VK_INCOMPLETE;
    while (result == VK_INCOMPLETE) {
        result = table.vkEnumerateDeviceExtensionProperties(handle, nullptr, &count, nullptr);
        // With a count of 0, the next call would only count again.
        if (result != VK_SUCCESS || count == 0) return {};
        found.resize(count);
        result = table.vkEnumerateDeviceExtensionProperties(handle, nullptr, &count, found.data());
    }
    std::vector<std::string> out;
    if (result != VK_SUCCESS) return out;
    for (std::uint32_t i = 0; i < count; ++i) out.emplace_back(found[i].extensionName);
    return out;
}

// Whether VK_EXT_calibrated_timestamps can read the device's clock.
bool can_read_clock(const InstanceTable& table, const DeviceInfo& d) {
    const auto ask = table.vkGetPhysicalDeviceCalibrateableTimeDomainsEXT;
    if (ask == nullptr || !d.has_extension(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME))
        return false;
    std::uint32_t count = 0;
    if (ask(d.handle, &count, nullptr) != VK_SUCCESS || count == 0) return false;
    std::vector<VkTimeDomainEXT> domains(count);
    if (ask(d.handle, &count, domains.data()) != VK_SUCCESS) return false;
    domains.resize(count);
    return std::ranges::count(domains, VK_TIME_DOMAIN_DEVICE_EXT) != 0;
}

// The name of a component type, such as "f16"; empty for types that the fact does not list.
std::string component_text(VkComponentTypeNV type) {
    switch (type) {
        case VK_COMPONENT_TYPE_FLOAT16_NV:
            return "f16";
        case VK_COMPONENT_TYPE_FLOAT32_NV:
            return "f32";
        case VK_COMPONENT_TYPE_FLOAT64_NV:
            return "f64";
        case VK_COMPONENT_TYPE_SINT8_NV:
            return "i8";
        case VK_COMPONENT_TYPE_SINT16_NV:
            return "i16";
        case VK_COMPONENT_TYPE_SINT32_NV:
            return "i32";
        case VK_COMPONENT_TYPE_SINT64_NV:
            return "i64";
        case VK_COMPONENT_TYPE_UINT8_NV:
            return "u8";
        case VK_COMPONENT_TYPE_UINT16_NV:
            return "u16";
        case VK_COMPONENT_TYPE_UINT32_NV:
            return "u32";
        case VK_COMPONENT_TYPE_UINT64_NV:
            return "u64";
        default:
            return {};
    }
}

// "16x16x16 f16 f32, ...": the matrices that a subgroup can multiply, by VK_NV_cooperative_matrix.
std::string matrix_sizes_of(const InstanceTable& table, const DeviceInfo& d) {
    const auto ask = table.vkGetPhysicalDeviceCooperativeMatrixPropertiesNV;
    if (ask == nullptr || !d.has_extension(VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME)) return {};
    std::uint32_t count = 0;
    if (ask(d.handle, &count, nullptr) != VK_SUCCESS || count == 0) return {};
    std::vector<VkCooperativeMatrixPropertiesNV> found(
        count,
        make<VkCooperativeMatrixPropertiesNV>(VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_NV));
    const VkResult result = ask(d.handle, &count, found.data());
    if (result != VK_SUCCESS && result != VK_INCOMPLETE) return {};
    found.resize(std::min<std::size_t>(count, found.size()));
    std::string out;
    for (const VkCooperativeMatrixPropertiesNV& one : found) {
        const std::string factors = component_text(one.AType);
        const std::string sums = component_text(one.CType);
        if (one.scope != VK_SCOPE_SUBGROUP_NV || one.AType != one.BType || one.CType != one.DType ||
            factors.empty() || sums.empty())
            continue;
        if (!out.empty()) out += ", ";
        out += std::to_string(one.MSize) + "x" + std::to_string(one.NSize) + "x" +
               std::to_string(one.KSize) + " " + factors + " " + sums;
    }
    return out;
}

// Links `structure` in front of the chain if the device supports it.
template <typename Structure>
void link(Structure& structure, VkStructureType type, bool known, void*& chain) {
    structure.sType = type;
    if (!known) return;
    structure.pNext = chain;
    chain = &structure;
}

void ask_properties(const InstanceTable& table, DeviceInfo& d) {
    Properties& p = d.properties;
    void* chain = nullptr;
    link(p.id, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES, true, chain);
    link(p.maintenance3, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES, true, chain);
    link(p.subgroup, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES, true, chain);
    link(p.driver, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES,
         d.has(VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME, VK_API_VERSION_1_2), chain);
    link(p.float_controls, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES,
         d.has(VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME, VK_API_VERSION_1_2), chain);
    link(p.subgroup_size, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES,
         d.has(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, VK_API_VERSION_1_3), chain);
    link(p.maintenance4, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES,
         d.has(VK_KHR_MAINTENANCE_4_EXTENSION_NAME, VK_API_VERSION_1_3), chain);
    link(p.indexing, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_PROPERTIES,
         d.has(VK_EXT_DESCRIPTOR_INDEXING_EXTENSION_NAME, VK_API_VERSION_1_2), chain);
    link(p.pci, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT,
         d.has(VK_EXT_PCI_BUS_INFO_EXTENSION_NAME, UINT32_MAX), chain);
    link(p.host_memory, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT,
         d.has_extension(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME), chain);
    link(p.drm, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRM_PROPERTIES_EXT,
         d.has_extension(VK_EXT_PHYSICAL_DEVICE_DRM_EXTENSION_NAME), chain);
    link(p.processors_nv, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV,
         d.has_extension(VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME), chain);
    link(p.processors_amd, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD,
         d.has_extension(VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME), chain);
    auto all = make<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
    all.pNext = chain;
    table.vkGetPhysicalDeviceProperties2(d.handle, &all);
    p.core = all.properties;
}

void ask_features(const InstanceTable& table, DeviceInfo& d) {
    auto all = make<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
    all.pNext = d.features.chain(
        [&](const char* extension, std::uint32_t version) { return d.has(extension, version); });
    table.vkGetPhysicalDeviceFeatures2(d.handle, &all);
    d.features.core = all.features;
}

std::vector<VkQueueFamilyProperties> families_of(const InstanceTable& table,
                                                 VkPhysicalDevice handle) {
    std::uint32_t count = 0;
    table.vkGetPhysicalDeviceQueueFamilyProperties(handle, &count, nullptr);
    std::vector<VkQueueFamilyProperties> out(count);
    table.vkGetPhysicalDeviceQueueFamilyProperties(handle, &count, out.data());
    return out;
}

// The first family with compute and without graphics, since its queues run in parallel and waits
// for them are faster (NVIDIA); else the first family with compute.
QueueFamily find_family(std::span<const VkQueueFamilyProperties> families) {
    QueueFamily found;
    for (std::uint32_t i = 0; i < families.size(); ++i) {
        const VkQueueFamilyProperties& family = families[i];
        if ((family.queueFlags & VK_QUEUE_COMPUTE_BIT) == 0 || family.queueCount == 0) continue;
        const bool computes_only = (family.queueFlags & VK_QUEUE_GRAPHICS_BIT) == 0;
        if (found.count == 0 || computes_only)
            found = {i, family.queueCount, family.timestampValidBits, computes_only};
        if (computes_only) break;
    }
    return found;
}

// The first family that only copies.
QueueFamily find_transfers(std::span<const VkQueueFamilyProperties> families) {
    constexpr VkQueueFlags kCopies =
        VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT | VK_QUEUE_PROTECTED_BIT;
    for (std::uint32_t i = 0; i < families.size(); ++i) {
        const VkQueueFamilyProperties& family = families[i];
        if ((family.queueFlags & VK_QUEUE_TRANSFER_BIT) != 0 &&
            (family.queueFlags & ~kCopies) == 0 && family.queueCount != 0)
            return {i, family.queueCount, family.timestampValidBits};
    }
    return {};
}

void identify(DeviceInfo& d) {
    const Properties& p = d.properties;
    d.name = p.core.deviceName;
    d.vendor = vendor_text(p.core.vendorID);
    d.version = "Vulkan " + version_text(p.core.apiVersion);
    d.kind = kind_text(p.core.deviceType);
    d.platform = p.driver.driverName;
    d.driver = p.driver.driverInfo;
    if (d.driver.empty()) d.driver = version_text(p.core.driverVersion);
    if (p.core.apiVersion >= VK_API_VERSION_1_1)
        d.uuid = sdk::hex_of(std::as_bytes(std::span(p.id.deviceUUID)));
    if (p.id.deviceLUIDValid == VK_TRUE)
        d.luid = sdk::hex_of(std::as_bytes(std::span(p.id.deviceLUID)));
    if (d.has_extension(VK_EXT_PCI_BUS_INFO_EXTENSION_NAME)) {
        char text[48];
        std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", p.pci.pciDomain, p.pci.pciBus,
                      p.pci.pciDevice, p.pci.pciFunction);
        d.pci_address = text;
    }
    if (p.drm.hasRender == VK_TRUE)
        d.render_node = std::to_string(p.drm.renderMajor) + ":" + std::to_string(p.drm.renderMinor);
    if (const VkConformanceVersion& passed = p.driver.conformanceVersion; passed.major != 0)
        d.conformance = std::to_string(passed.major) + "." + std::to_string(passed.minor) + "." +
                        std::to_string(passed.subminor) + "." + std::to_string(passed.patch);
    const auto& sizes = p.subgroup_size;
    if (d.features.subgroup_size.subgroupSizeControl == VK_TRUE &&
        d.features.subgroup_size.computeFullSubgroups == VK_TRUE &&
        (sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0)
        for (std::uint64_t size = std::max(sizes.minSubgroupSize, 4U);
             size <= std::min(sizes.maxSubgroupSize, 128U); size *= 2)
            d.subgroup_sizes.push_back(size);
}

void judge(DeviceInfo& d) {
    const std::uint32_t version = d.properties.core.apiVersion;
    if (version < VK_API_VERSION_1_1) {
        d.reason = "the device has " + d.version + ", and Vulkan 1.1 is needed";
        d.fix = "Fix: update the Vulkan driver";
    } else if (d.family.count == 0) {
        d.reason = "the device has no queue that computes";
        d.fix = "Fix: use another device";
    } else if (d.features.timeline.timelineSemaphore != VK_TRUE) {
        d.reason = "the driver has no timeline semaphores";
        d.fix = "Fix: update the Vulkan driver to one with Vulkan 1.2 or VK_KHR_timeline_semaphore";
    }
}

DeviceInfo describe_device(const InstanceTable& table, VkPhysicalDevice handle) {
    DeviceInfo d;
    d.handle = handle;
    table.vkGetPhysicalDeviceProperties(handle, &d.properties.core);
    if (d.properties.core.apiVersion >= VK_API_VERSION_1_1) {
        d.extensions = extensions_of(table, handle);
        d.reads_clock = can_read_clock(table, d);
        d.matrix_sizes = matrix_sizes_of(table, d);
        ask_properties(table, d);
        ask_features(table, d);
        auto memory = make<VkPhysicalDeviceMemoryProperties2>(
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2);
        table.vkGetPhysicalDeviceMemoryProperties2(handle, &memory);
        d.memory = memory.memoryProperties;
        const auto families = families_of(table, handle);
        d.family = find_family(families);
        d.transfers = find_transfers(families);
        for (const VkQueueFamilyProperties& family : families)
            if ((family.queueFlags & VK_QUEUE_COMPUTE_BIT) != 0)
                d.compute_queues += family.queueCount;
        if (const std::uint64_t free = free_bytes(table, d); free != UINT64_MAX)
            d.free_bytes = free;
    }
    identify(d);
    judge(d);
    return d;
}

}  // namespace

bool DeviceInfo::has_extension(std::string_view extension) const {
    return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

bool DeviceInfo::has(std::string_view extension, std::uint32_t version_with_it) const {
    return properties.core.apiVersion >= version_with_it || has_extension(extension);
}

bool DeviceInfo::has_subgroups() const {
    constexpr VkSubgroupFeatureFlags kNeeded =
        VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT |
        VK_SUBGROUP_FEATURE_BALLOT_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    return !subgroup_sizes.empty() &&
           (properties.subgroup.supportedOperations & kNeeded) == kNeeded &&
           (properties.subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
           features.subgroup_types.shaderSubgroupExtendedTypes == VK_TRUE;
}

bool DeviceInfo::rewrites_descriptors() const {
    // Enough descriptors for a few hundred recordings of thousands of launches each.
    constexpr std::uint32_t kLeastInPools = 1U << 20U;
    const auto& limits = properties.indexing;
    return features.indexing.descriptorBindingStorageBufferUpdateAfterBind == VK_TRUE &&
           limits.maxUpdateAfterBindDescriptorsInAllPools >= kLeastInPools;
}

bool DeviceInfo::unified_memory() const {
    for (std::uint32_t h = 0; h < memory.memoryHeapCount; ++h)
        if ((memory.memoryHeaps[h].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) == 0) return false;
    return memory.memoryHeapCount != 0;
}

std::uint64_t DeviceInfo::memory_bytes() const {
    std::uint64_t out = 0;
    for (std::uint32_t h = 0; h < memory.memoryHeapCount; ++h)
        if ((memory.memoryHeaps[h].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0)
            out += memory.memoryHeaps[h].size;
    return out;
}

std::uint64_t DeviceInfo::compute_units() const {
    const auto& amd = properties.processors_amd;
    return std::max<std::uint64_t>(properties.processors_nv.shaderSMCount,
                                   std::uint64_t{amd.shaderEngineCount} *
                                       amd.shaderArraysPerEngineCount *
                                       amd.computeUnitsPerShaderArray);
}

std::uint64_t free_bytes(const InstanceTable& table, const DeviceInfo& info) {
    if (!info.has_extension(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME)) return UINT64_MAX;
    auto budget = make<VkPhysicalDeviceMemoryBudgetPropertiesEXT>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT);
    auto memory = make<VkPhysicalDeviceMemoryProperties2>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2);
    memory.pNext = &budget;
    table.vkGetPhysicalDeviceMemoryProperties2(info.handle, &memory);
    std::uint64_t out = 0;
    for (std::uint32_t h = 0; h < memory.memoryProperties.memoryHeapCount; ++h)
        if ((memory.memoryProperties.memoryHeaps[h].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0)
            out += budget.heapBudget[h] - std::min(budget.heapBudget[h], budget.heapUsage[h]);
    return out;
}

std::uint64_t DeviceInfo::max_buffer_bytes() const {
    std::uint64_t out = properties.core.limits.maxStorageBufferRange;
    out = std::min(out, properties.maintenance3.maxMemoryAllocationSize);
    if (properties.maintenance4.maxBufferSize != 0)
        out = std::min(out, properties.maintenance4.maxBufferSize);
    return out;
}

Result<std::vector<DeviceInfo>> discover(const InstanceTable& table, VkInstance instance) {
    std::uint32_t count = 0;
    std::vector<VkPhysicalDevice> handles;
    VkResult result = VK_INCOMPLETE;
    while (result == VK_INCOMPLETE) {
        result = table.vkEnumeratePhysicalDevices(instance, &count, nullptr);
        if (result != VK_SUCCESS || count == 0) break;
        handles.resize(count);
        result = table.vkEnumeratePhysicalDevices(instance, &count, handles.data());
    }
    if (result != VK_SUCCESS)
        return native_error(result, "vkEnumeratePhysicalDevices", "the Vulkan loader");
    if (count == 0)
        return Error(Code::NO_DEVICE, "no Vulkan driver on this machine has a device",
                     "Fix: install the driver of your GPU, or one for the CPU (Debian: "
                     "`mesa-vulkan-drivers`)",
                     "the Vulkan loader");
    handles.resize(count);
    std::vector<DeviceInfo> devices;
    for (const VkPhysicalDevice handle : handles) devices.push_back(describe_device(table, handle));
    return devices;
}

}  // namespace wye::vulkan
