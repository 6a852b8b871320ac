// SPDX-License-Identifier: Apache-2.0
//
// A Vulkan loader that loses devices: `liblossy_vulkan.so` forwards every call to libvulkan.so.1,
// except where a test chose another result. One state per process.
#pragma once

#include <cstdint>

namespace lossy_vulkan {

struct Control {
    void (*reset)();
    // The newest VkDevice: its work ends, and from now on it answers VK_ERROR_DEVICE_LOST.
    void (*lose_newest)();
    // As above, but like NVIDIA's driver 580: only submits report the loss, and timeline semaphores
    // do not advance.
    void (*lose_newest_silently)();
    // vkAllocateMemory answers VK_ERROR_OUT_OF_DEVICE_MEMORY while set.
    void (*memory_full)(bool full);
    // vkCreateComputePipelines answers this; 0: no more.
    void (*refuse_pipelines)(std::int32_t result);
    // The VkDriverId that every device reports; 0: its own.
    void (*driver_id)(std::uint32_t id);
    // Every device claims that descriptor sets can be written after they were bound. A driver that
    // cannot do so is not told: lavapipe reads a set when it runs a command buffer anyway.
    void (*claim_late_descriptors)();
    // The last value that a vkQueueSubmit was told to signal, and the last that a wait or a
    // question found signalled: of one queue, after a reset.
    std::uint64_t (*sent)();
    std::uint64_t (*seen_to_end)();
    // Command buffers that were begun since a reset.
    std::uint64_t (*recordings)();
    // Calls of vkQueueSubmit with command buffers since a reset, and the signals of all of them.
    std::uint64_t (*submits)();
    std::uint64_t (*signals)();
    // vkQueueSubmit answers this; 0: no more.
    void (*refuse_submits)(std::int32_t result);
    // While set, who asks for a semaphore's value gets 0; waits end as usual.
    void (*stall)(bool stalled);
};

}  // namespace lossy_vulkan

extern "C" const lossy_vulkan::Control* lossy_vulkan_control();
