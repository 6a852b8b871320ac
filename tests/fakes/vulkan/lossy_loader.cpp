// SPDX-License-Identifier: Apache-2.0
#include "vulkan/lossy_loader.hpp"

#include <dlfcn.h>
#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <thread>

namespace {

// The real loader. The library is never unloaded, since drivers leave threads running.
PFN_vkGetInstanceProcAddr real_loader() {
    static const auto function = [] {
        void* library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        return library == nullptr ? nullptr
                                  : reinterpret_cast<PFN_vkGetInstanceProcAddr>(
                                        dlsym(library, "vkGetInstanceProcAddr"));
    }();
    return function;
}

struct State {
    std::mutex mutex;
    PFN_vkGetDeviceProcAddr get_device = nullptr;
    VkDevice newest = VK_NULL_HANDLE;
    std::set<VkDevice> lost;
    std::set<VkDevice> silent;            // lost devices whose semaphores do not report it
    std::map<VkQueue, VkDevice> devices;  // the device of each queue
    bool memory_full = false;
    VkResult pipelines = VK_SUCCESS;
    PFN_vkGetPhysicalDeviceProperties2 get_properties = nullptr;
    PFN_vkGetPhysicalDeviceFeatures2 get_features = nullptr;
    PFN_vkCreateDevice create_device = nullptr;
    bool claims_descriptors = false, pretends = false;  // `pretends`: the claim is false
    std::uint32_t driver_id = 0;
    std::uint64_t sent = 0, ended = 0, recordings = 0, submits = 0, signals = 0;
    VkResult refusal = VK_SUCCESS;  // result of submits
    bool stalled = false;
    PFN_vkBeginCommandBuffer begin = nullptr;
};

State& state() {
    static State out;
    return out;
}

template <typename Function>
Function real(VkDevice device, const char* name) {
    return reinterpret_cast<Function>(state().get_device(device, name));
}

bool lost(VkDevice device) {
    const std::lock_guard lock(state().mutex);
    return state().lost.contains(device);
}

bool silent(VkDevice device) {
    const std::lock_guard lock(state().mutex);
    return state().silent.contains(device);
}

#define LOSSY_REAL(device, name) real<PFN_##name>(device, #name)

VKAPI_ATTR void VKAPI_CALL get_queue(VkDevice device, std::uint32_t family, std::uint32_t index,
                                     VkQueue* out) {
    LOSSY_REAL(device, vkGetDeviceQueue)(device, family, index, out);
    const std::lock_guard lock(state().mutex);
    state().devices[*out] = device;
}

VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, std::uint32_t count, const VkSubmitInfo* infos,
                                      VkFence fence) {
    VkDevice device = VK_NULL_HANDLE;
    {
        const std::lock_guard lock(state().mutex);
        device = state().devices[queue];
    }
    if (lost(device)) return VK_ERROR_DEVICE_LOST;
    {
        const std::lock_guard lock(state().mutex);
        if (state().refusal != VK_SUCCESS) return state().refusal;
        if (count != 0 && infos->commandBufferCount != 0) ++state().submits;
    }
    for (const VkSubmitInfo& info : std::span(infos, count)) {
        const auto* values = static_cast<const VkTimelineSemaphoreSubmitInfo*>(info.pNext);
        const std::lock_guard lock(state().mutex);
        state().signals += info.signalSemaphoreCount;
        if (values != nullptr && values->signalSemaphoreValueCount != 0)
            state().sent = values->pSignalSemaphoreValues[0];
    }
    return LOSSY_REAL(device, vkQueueSubmit)(queue, count, infos, fence);
}

void saw_end(std::uint64_t value) {
    const std::lock_guard lock(state().mutex);
    state().ended = std::max(state().ended, value);
}

VKAPI_ATTR VkResult VKAPI_CALL wait(VkDevice device, const VkSemaphoreWaitInfo* info,
                                    std::uint64_t timeout) {
    if (silent(device)) {
        std::this_thread::sleep_for(std::chrono::nanoseconds(timeout));
        return VK_TIMEOUT;
    }
    if (lost(device)) return VK_ERROR_DEVICE_LOST;
    const VkResult result = LOSSY_REAL(device, vkWaitSemaphores)(device, info, timeout);
    if (result == VK_SUCCESS) saw_end(info->pValues[0]);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL counter(VkDevice device, VkSemaphore semaphore,
                                       std::uint64_t* value) {
    bool stalled = false;
    {
        const std::lock_guard lock(state().mutex);
        stalled = state().stalled;
    }
    if (silent(device) || stalled) {
        *value = 0;
        return VK_SUCCESS;
    }
    if (lost(device)) return VK_ERROR_DEVICE_LOST;
    const VkResult result =
        LOSSY_REAL(device, vkGetSemaphoreCounterValue)(device, semaphore, value);
    if (result == VK_SUCCESS) saw_end(*value);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL begin(VkCommandBuffer buffer, const VkCommandBufferBeginInfo* info) {
    {
        const std::lock_guard lock(state().mutex);
        ++state().recordings;
    }
    return state().begin(buffer, info);
}

VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                                        const VkAllocationCallbacks* callbacks,
                                        VkDeviceMemory* out) {
    if (state().memory_full) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    return LOSSY_REAL(device, vkAllocateMemory)(device, info, callbacks, out);
}

VKAPI_ATTR VkResult VKAPI_CALL pipelines(VkDevice device, VkPipelineCache cache,
                                         std::uint32_t count,
                                         const VkComputePipelineCreateInfo* infos,
                                         const VkAllocationCallbacks* callbacks, VkPipeline* out) {
    if (state().pipelines != VK_SUCCESS) return state().pipelines;
    return LOSSY_REAL(device, vkCreateComputePipelines)(device, cache, count, infos, callbacks,
                                                        out);
}

// The structure of type `type` in a chain; null: none.
template <typename Structure>
Structure* find(void* chain, VkStructureType type) {
    for (auto* each = static_cast<VkBaseOutStructure*>(chain); each != nullptr; each = each->pNext)
        if (each->sType == type) return reinterpret_cast<Structure*>(each);
    return nullptr;
}

VKAPI_ATTR void VKAPI_CALL properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2* out) {
    state().get_properties(device, out);
    auto* const driver = find<VkPhysicalDeviceDriverProperties>(
        out->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES);
    if (state().driver_id != 0 && driver != nullptr)
        driver->driverID = static_cast<VkDriverId>(state().driver_id);
    auto* const indexing = find<VkPhysicalDeviceDescriptorIndexingProperties>(
        out->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_PROPERTIES);
    if (state().claims_descriptors && indexing != nullptr)
        indexing->maxUpdateAfterBindDescriptorsInAllPools = UINT32_MAX;
}

VkBool32* late_descriptors_in(void* chain) {
    auto* const indexing = find<VkPhysicalDeviceDescriptorIndexingFeatures>(
        chain, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_FEATURES);
    return indexing == nullptr ? nullptr : &indexing->descriptorBindingStorageBufferUpdateAfterBind;
}

VKAPI_ATTR void VKAPI_CALL features(VkPhysicalDevice device, VkPhysicalDeviceFeatures2* out) {
    state().get_features(device, out);
    VkBool32* const late = late_descriptors_in(out->pNext);
    if (!state().claims_descriptors || late == nullptr) return;
    state().pretends = *late == VK_FALSE;
    *late = VK_TRUE;
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical,
                                             const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* callbacks,
                                             VkDevice* out) {
    VkBool32* const late = late_descriptors_in(const_cast<void*>(info->pNext));
    const bool asked = state().pretends && late != nullptr && *late == VK_TRUE;
    if (asked) *late = VK_FALSE;
    const VkResult result = state().create_device(physical, info, callbacks, out);
    if (asked) *late = VK_TRUE;
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL set_layout(VkDevice device,
                                          const VkDescriptorSetLayoutCreateInfo* info,
                                          const VkAllocationCallbacks* callbacks,
                                          VkDescriptorSetLayout* out) {
    VkDescriptorSetLayoutCreateInfo plain = *info;
    if (state().pretends) {
        plain.flags = 0;
        plain.pNext = nullptr;
    }
    return LOSSY_REAL(device, vkCreateDescriptorSetLayout)(device, &plain, callbacks, out);
}

VKAPI_ATTR VkResult VKAPI_CALL descriptor_pool(VkDevice device,
                                               const VkDescriptorPoolCreateInfo* info,
                                               const VkAllocationCallbacks* callbacks,
                                               VkDescriptorPool* out) {
    VkDescriptorPoolCreateInfo plain = *info;
    if (state().pretends) plain.flags = 0;
    return LOSSY_REAL(device, vkCreateDescriptorPool)(device, &plain, callbacks, out);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_function(VkDevice device, const char* name) {
    {
        const std::lock_guard lock(state().mutex);
        state().newest = device;
    }
    const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
    if (is("vkGetDeviceQueue")) return reinterpret_cast<PFN_vkVoidFunction>(&get_queue);
    if (is("vkQueueSubmit")) return reinterpret_cast<PFN_vkVoidFunction>(&submit);
    if (is("vkWaitSemaphores")) return reinterpret_cast<PFN_vkVoidFunction>(&wait);
    if (is("vkGetSemaphoreCounterValue")) return reinterpret_cast<PFN_vkVoidFunction>(&counter);
    if (is("vkBeginCommandBuffer")) {
        state().begin = LOSSY_REAL(device, vkBeginCommandBuffer);
        return reinterpret_cast<PFN_vkVoidFunction>(&begin);
    }
    if (is("vkAllocateMemory")) return reinterpret_cast<PFN_vkVoidFunction>(&allocate);
    if (is("vkCreateDescriptorSetLayout")) return reinterpret_cast<PFN_vkVoidFunction>(&set_layout);
    if (is("vkCreateDescriptorPool")) return reinterpret_cast<PFN_vkVoidFunction>(&descriptor_pool);
    if (is("vkCreateComputePipelines")) return reinterpret_cast<PFN_vkVoidFunction>(&pipelines);
    return state().get_device(device, name);
}

void reset() {
    const std::lock_guard lock(state().mutex);
    state().lost.clear();
    state().silent.clear();
    state().memory_full = false;
    state().pipelines = VK_SUCCESS;
    state().driver_id = 0;
    state().claims_descriptors = state().pretends = false;
    state().sent = state().ended = state().recordings = 0;
    state().submits = state().signals = 0;
    state().refusal = VK_SUCCESS;
    state().stalled = false;
}

void lose_newest() {
    const VkDevice device = state().newest;
    (void)LOSSY_REAL(device, vkDeviceWaitIdle)(device);
    const std::lock_guard lock(state().mutex);
    state().lost.insert(device);
}

void lose_newest_silently() {
    lose_newest();
    const std::lock_guard lock(state().mutex);
    state().silent.insert(state().newest);
}

void memory_full(bool full) { state().memory_full = full; }
void refuse_pipelines(std::int32_t result) { state().pipelines = static_cast<VkResult>(result); }
void driver_id(std::uint32_t id) { state().driver_id = id; }
void claim_late_descriptors() { state().claims_descriptors = true; }
std::uint64_t sent() {
    const std::lock_guard lock(state().mutex);
    return state().sent;
}
std::uint64_t recordings() {
    const std::lock_guard lock(state().mutex);
    return state().recordings;
}
std::uint64_t submits() {
    const std::lock_guard lock(state().mutex);
    return state().submits;
}
std::uint64_t signals() {
    const std::lock_guard lock(state().mutex);
    return state().signals;
}
void refuse_submits(std::int32_t result) {
    const std::lock_guard lock(state().mutex);
    state().refusal = static_cast<VkResult>(result);
}
void stall(bool stalled) {
    const std::lock_guard lock(state().mutex);
    state().stalled = stalled;
}
std::uint64_t seen_to_end() {
    const std::lock_guard lock(state().mutex);
    return state().ended;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance,
                                                                                const char* name) {
    const PFN_vkGetInstanceProcAddr loader = real_loader();
    if (loader == nullptr) return nullptr;
    const PFN_vkVoidFunction function = loader(instance, name);
    if (function == nullptr) return function;
    if (std::strcmp(name, "vkGetPhysicalDeviceProperties2") == 0) {
        state().get_properties = reinterpret_cast<PFN_vkGetPhysicalDeviceProperties2>(function);
        return reinterpret_cast<PFN_vkVoidFunction>(&properties);
    }
    if (std::strcmp(name, "vkGetPhysicalDeviceFeatures2") == 0) {
        state().get_features = reinterpret_cast<PFN_vkGetPhysicalDeviceFeatures2>(function);
        return reinterpret_cast<PFN_vkVoidFunction>(&features);
    }
    if (std::strcmp(name, "vkCreateDevice") == 0) {
        state().create_device = reinterpret_cast<PFN_vkCreateDevice>(function);
        return reinterpret_cast<PFN_vkVoidFunction>(&create_device);
    }
    if (std::strcmp(name, "vkGetDeviceProcAddr") != 0) return function;
    state().get_device = reinterpret_cast<PFN_vkGetDeviceProcAddr>(function);
    return reinterpret_cast<PFN_vkVoidFunction>(&get_device_function);
}

__attribute__((visibility("default"))) const lossy_vulkan::Control* lossy_vulkan_control() {
    static const lossy_vulkan::Control control = {reset,
                                                  lose_newest,
                                                  lose_newest_silently,
                                                  memory_full,
                                                  refuse_pipelines,
                                                  driver_id,
                                                  claim_late_descriptors,
                                                  sent,
                                                  seen_to_end,
                                                  recordings,
                                                  submits,
                                                  signals,
                                                  refuse_submits,
                                                  stall};
    return &control;
}
}
