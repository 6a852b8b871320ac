// SPDX-License-Identifier: Apache-2.0
//
// A proxy of the real Vulkan loader. Its functions that return a result fail on request.
#include <dlfcn.h>

#include "faults/thunk.hpp"
#include "vulkan/driver.hpp"

namespace {

constexpr const char* kLosable[] = {
    "vkQueueSubmit",  "vkWaitSemaphores",      "vkGetSemaphoreCounterValue",
    "vkCreateDevice", "vkGetQueryPoolResults",
};

struct Rules {
    static void* find(const char*) { return nullptr; }  // set when the function is looked up
    static constexpr bool does_first(std::string_view name) { return name == "vkWaitSemaphores"; }
    template <typename R, typename... A>
    static R failure(std::string_view name, A...) {
        if constexpr (std::is_same_v<R, VkResult>) {
            switch (faults_flavour() % 3) {
                case 0:
                    return VK_ERROR_OUT_OF_HOST_MEMORY;
                case 1:
                    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
                default:
                    return faults::one_of(name, kLosable) ? VK_ERROR_DEVICE_LOST
                                                          : VK_ERROR_INITIALIZATION_FAILED;
            }
        } else {
            return nullptr;  // as if the driver lacked the function
        }
    }
    template <typename R, typename... A>
    static void made(std::string_view name, R result, A...) {
        if constexpr (std::is_same_v<R, VkResult>)
            if (result == VK_SUCCESS &&
                (faults::begins(name, "vkCreate") || name == "vkAllocateMemory"))
                faults_driver_object(1);
    }
    template <typename... A>
    static void freed(std::string_view name, A... a) {
        if constexpr (sizeof...(A) >= 2)
            if (faults::begins(name, "vkDestroy") || name == "vkFreeMemory")
                if (std::get<sizeof...(A) - 2>(std::tuple<A...>(a...)) !=
                    std::tuple_element_t<sizeof...(A) - 2, std::tuple<A...>>{})
                    faults_driver_object(-1);
    }
};

template <faults::Name kName, typename Function>
PFN_vkVoidFunction thunk(PFN_vkVoidFunction real) {
    using Thunk = faults::Thunk<Rules, kName, Function>;
    Thunk::real = reinterpret_cast<Function>(real);
    return reinterpret_cast<PFN_vkVoidFunction>(&Thunk::call);
}

PFN_vkVoidFunction wrapped(const char* name, PFN_vkVoidFunction real);

PFN_vkGetDeviceProcAddr real_get_device = nullptr;
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device(VkDevice device, const char* name) {
    const PFN_vkVoidFunction real = real_get_device(device, name);
    return real == nullptr ? nullptr : wrapped(name, real);
}

PFN_vkVoidFunction wrapped(const char* name, PFN_vkVoidFunction real) {
    const std::string_view wanted = name;
    if (wanted == "vkGetDeviceProcAddr") {
        real_get_device = reinterpret_cast<PFN_vkGetDeviceProcAddr>(real);
        return reinterpret_cast<PFN_vkVoidFunction>(&get_device);
    }
    // With persistent faults, vkDestroy functions are still found, so that objects can be
    // destroyed.
    const bool needed = faults_persistent() != 0 && faults::begins(wanted, "vkDestroy");
    if (!needed && faults_hit(faults::kDriverCall, "a function that is not there") != 0)
        return nullptr;
#define FAULTS_WRAP(function)                             \
    if (wanted == #function || wanted == #function "KHR") \
        return thunk<#function, PFN_##function>(real);
    WYE_VULKAN_GLOBAL_SYMBOLS(FAULTS_WRAP)
    WYE_VULKAN_INSTANCE_SYMBOLS(FAULTS_WRAP)
    WYE_VULKAN_DEVICE_SYMBOLS(FAULTS_WRAP)
    WYE_VULKAN_TIMELINE_SYMBOLS(FAULTS_WRAP)
#undef FAULTS_WRAP
    return real;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) PFN_vkVoidFunction vkGetInstanceProcAddr(
    VkInstance instance, const char* name) {
    static const auto loader = [] {
        void* library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        return reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
    }();
    const PFN_vkVoidFunction real = loader(instance, name);
    return real == nullptr ? nullptr : wrapped(name, real);
}
