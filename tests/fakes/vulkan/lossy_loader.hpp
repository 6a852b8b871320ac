// SPDX-License-Identifier: Apache-2.0
//
// A Vulkan loader that can lose devices. `liblossy_vulkan.so` passes every call to libvulkan.so.1,
// unless a test has chosen another result. There is one state for the process.
#pragma once

#include <cstdint>

namespace lossy_vulkan {

struct Control {
    void (*reset)();
    // Loses the newest VkDevice: its work ends, and then its calls return VK_ERROR_DEVICE_LOST.
    void (*lose_newest)();
    // Loses the newest VkDevice as NVIDIA's driver 580 does: only submits report the loss, and
    // timeline semaphores no longer advance.
    void (*lose_newest_silently)();
    // Lets vkAllocateMemory return VK_ERROR_OUT_OF_DEVICE_MEMORY while `full` is true.
    void (*memory_full)(bool full);
    // Makes every vkCreateComputePipelines fail with `result`. 0 ends this.
    void (*refuse_pipelines)(std::int32_t result);
    // Sets the VkDriverId that every device reports; 0: the real one.
    void (*driver_id)(std::uint32_t id);
    // Lets every device claim that descriptor sets may be written after they were bound. If the
    // driver lacks this feature, the loader does not pass on the request. With lavapipe, which
    // reads a set only when it runs a command buffer, such writes work anyway.
    void (*claim_late_descriptors)();
    // `sent`: the last value that a vkQueueSubmit was told to signal. `seen_to_end`: the highest
    // value that a wait or a query found reached. For tests that use one queue after a reset.
    std::uint64_t (*sent)();
    std::uint64_t (*seen_to_end)();
    // The number of command buffers that were begun since a reset.
    std::uint64_t (*recordings)();
    // Counters since a reset. `submits`: calls of vkQueueSubmit with command buffers. `signals`:
    // semaphores that all calls of vkQueueSubmit were told to signal.
    std::uint64_t (*submits)();
    std::uint64_t (*signals)();
    // Makes every vkQueueSubmit fail with `result`. 0 ends this.
    void (*refuse_submits)(std::int32_t result);
    // While `stalled` is true, a query of a semaphore's value gives 0; waits end as usual.
    void (*stall)(bool stalled);
};

}  // namespace lossy_vulkan

extern "C" const lossy_vulkan::Control* lossy_vulkan_control();
