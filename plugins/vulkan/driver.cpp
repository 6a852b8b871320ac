// SPDX-License-Identifier: Apache-2.0
#include "vulkan/driver.hpp"

#include <dlfcn.h>

namespace wye::vulkan {
namespace {

constexpr const char* kUpdate = "Fix: install a newer Vulkan loader (Debian: `libvulkan1`)";

Error missing_function(const char* name, const std::string& where) {
    return {Code::MISSING_DEPENDENCY,
            "`" + where + "` has no `" + name + "`, which is part of Vulkan 1.1", kUpdate, where};
}

}  // namespace

Result<std::unique_ptr<const Loader>> Loader::open(const std::string& library) {
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == nullptr) {
        const char* text = dlerror();
        return Error(Code::MISSING_DEPENDENCY,
                     "the Vulkan loader `" + library +
                         "` cannot be opened: " + (text != nullptr ? text : "no reason given"),
                     "Fix: install the Vulkan loader (Debian: `libvulkan1`) and a driver (for the "
                     "CPU: `mesa-vulkan-drivers`)",
                     library);
    }
    auto loader = std::make_unique<Loader>();
    loader->vkGetInstanceProcAddr =
        reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(handle, "vkGetInstanceProcAddr"));
    if (loader->vkGetInstanceProcAddr == nullptr)
        return missing_function("vkGetInstanceProcAddr", library);
    const char* missing = nullptr;
    const auto find = [&](const char* name) {
        const PFN_vkVoidFunction function = loader->vkGetInstanceProcAddr(nullptr, name);
        if (function == nullptr && missing == nullptr) missing = name;
        return function;
    };
#define WYE_VULKAN_FIND(name) loader->name = reinterpret_cast<PFN_##name>(find(#name));
    WYE_VULKAN_GLOBAL_SYMBOLS(WYE_VULKAN_FIND)
#undef WYE_VULKAN_FIND
    if (missing != nullptr) return missing_function(missing, library);
    return std::unique_ptr<const Loader>(std::move(loader));
}

Result<InstanceTable> InstanceTable::load(const Loader& loader, VkInstance instance) {
    InstanceTable out;
    const char* missing = nullptr;
    const auto find = [&](const char* name) {
        const PFN_vkVoidFunction function = loader.vkGetInstanceProcAddr(instance, name);
        if (function == nullptr && missing == nullptr) missing = name;
        return function;
    };
#define WYE_VULKAN_FIND(name) out.name = reinterpret_cast<PFN_##name>(find(#name));
    WYE_VULKAN_INSTANCE_SYMBOLS(WYE_VULKAN_FIND)
#undef WYE_VULKAN_FIND
    if (missing != nullptr) return missing_function(missing, "the Vulkan instance");
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
    return out;
}

}  // namespace wye::vulkan
