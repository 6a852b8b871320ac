// SPDX-License-Identifier: Apache-2.0
#include "vulkan/driver.hpp"

#include "wye/sdk/library.hpp"

namespace wye::vulkan {
namespace {

constexpr const char* kUpdate = "Fix: install a newer Vulkan loader (Debian: `libvulkan1`)";

Error missing_function(const char* name, const std::string& where) {
    return sdk::errors::function_absent(where, name, "Vulkan 1.1", kUpdate);
}

}  // namespace

Result<std::unique_ptr<const Loader>> Loader::open(const std::string& library) {
    WYE_ASSIGN(void* handle,
               sdk::open_library(library, "the Vulkan loader",
                                 "Fix: install the Vulkan loader (Debian: `libvulkan1`) and a "
                                 "driver (for the CPU: `mesa-vulkan-drivers`)"));
    auto loader = std::make_unique<Loader>();
    loader->vkGetInstanceProcAddr = reinterpret_cast<PFN_vkGetInstanceProcAddr>(
        sdk::symbol_in(handle, "vkGetInstanceProcAddr"));
    if (loader->vkGetInstanceProcAddr == nullptr)
        return missing_function("vkGetInstanceProcAddr", library);
    sdk::Functions functions(
        [&](const char* name) { return loader->vkGetInstanceProcAddr(nullptr, name); });
#define WYE_VULKAN_FIND(name) functions.get(loader->name, #name);
    WYE_VULKAN_GLOBAL_SYMBOLS(WYE_VULKAN_FIND)
#undef WYE_VULKAN_FIND
    if (functions.missing() != nullptr) return missing_function(functions.missing(), library);
    return std::unique_ptr<const Loader>(std::move(loader));
}

Result<InstanceTable> InstanceTable::load(const Loader& loader, VkInstance instance) {
    InstanceTable out;
    sdk::Functions functions(
        [&](const char* name) { return loader.vkGetInstanceProcAddr(instance, name); });
#define WYE_VULKAN_FIND(name) functions.get(out.name, #name);
    WYE_VULKAN_INSTANCE_SYMBOLS(WYE_VULKAN_FIND)
#undef WYE_VULKAN_FIND
    if (functions.missing() != nullptr)
        return missing_function(functions.missing(), "the Vulkan instance");
    out.vkGetPhysicalDeviceCalibrateableTimeDomainsEXT =
        reinterpret_cast<PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT>(
            loader.vkGetInstanceProcAddr(instance,
                                         "vkGetPhysicalDeviceCalibrateableTimeDomainsEXT"));
    out.vkGetPhysicalDeviceCooperativeMatrixPropertiesNV =
        reinterpret_cast<PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesNV>(
            loader.vkGetInstanceProcAddr(instance,
                                         "vkGetPhysicalDeviceCooperativeMatrixPropertiesNV"));
    return out;
}

Result<DeviceTable> DeviceTable::load(const InstanceTable& instance, VkDevice device) {
    DeviceTable out;
    const char* missing = nullptr;
    const auto find = [&](const char* name, const char* before = nullptr) {
        PFN_vkVoidFunction function = instance.vkGetDeviceProcAddr(device, name);
        if (function == nullptr && before != nullptr)
            function = instance.vkGetDeviceProcAddr(device, before);
        if (function == nullptr && missing == nullptr) missing = name;
        return function;
    };
#define WYE_VULKAN_FIND(name) out.name = reinterpret_cast<PFN_##name>(find(#name));
    WYE_VULKAN_DEVICE_SYMBOLS(WYE_VULKAN_FIND)
#undef WYE_VULKAN_FIND
#define WYE_VULKAN_FIND(name) out.name = reinterpret_cast<PFN_##name>(find(#name, #name "KHR"));
    WYE_VULKAN_TIMELINE_SYMBOLS(WYE_VULKAN_FIND)
#undef WYE_VULKAN_FIND
    if (missing != nullptr) return missing_function(missing, "the Vulkan driver");
    for (const char* name : {"vkResetQueryPool", "vkResetQueryPoolEXT"})
        if (out.vkResetQueryPool == nullptr)
            out.vkResetQueryPool =
                reinterpret_cast<PFN_vkResetQueryPool>(instance.vkGetDeviceProcAddr(device, name));
    out.vkGetMemoryHostPointerPropertiesEXT =
        reinterpret_cast<PFN_vkGetMemoryHostPointerPropertiesEXT>(
            instance.vkGetDeviceProcAddr(device, "vkGetMemoryHostPointerPropertiesEXT"));
    out.vkGetCalibratedTimestampsEXT = reinterpret_cast<PFN_vkGetCalibratedTimestampsEXT>(
        instance.vkGetDeviceProcAddr(device, "vkGetCalibratedTimestampsEXT"));
    return out;
}

}  // namespace wye::vulkan
