// SPDX-License-Identifier: Apache-2.0
//
// Vulkan 1.2 through a loader opened by name: a device, its queues, and owners of Vulkan objects.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "way.hpp"

namespace wye::bench::vulkan {

[[nodiscard]] inline Error failed(VkResult status, const char* call) {
    return call_failed("vulkan", "vulkan_core.h", status, call);
}

// Returns the error of a failed call. Success costs only a comparison, since timed loops use this.
#define TRY_VK(call)                                                         \
    if (const VkResult status_ = (call); status_ != VK_SUCCESS) [[unlikely]] \
    return ::wye::bench::vulkan::failed(status_, #call)

#define WYE_BENCH_INSTANCE_CALLS(X)             \
    X(vkDestroyInstance)                        \
    X(vkEnumeratePhysicalDevices)               \
    X(vkGetPhysicalDeviceProperties)            \
    X(vkGetPhysicalDeviceFeatures2)             \
    X(vkGetPhysicalDeviceMemoryProperties)      \
    X(vkGetPhysicalDeviceQueueFamilyProperties) \
    X(vkCreateDevice)                           \
    X(vkGetDeviceProcAddr)

#define WYE_BENCH_DEVICE_CALLS(X)    \
    X(vkDestroyDevice)               \
    X(vkDeviceWaitIdle)              \
    X(vkGetDeviceQueue)              \
    X(vkCreateBuffer)                \
    X(vkDestroyBuffer)               \
    X(vkGetBufferMemoryRequirements) \
    X(vkAllocateMemory)              \
    X(vkFreeMemory)                  \
    X(vkBindBufferMemory)            \
    X(vkMapMemory)                   \
    X(vkCreateShaderModule)          \
    X(vkDestroyShaderModule)         \
    X(vkCreateDescriptorSetLayout)   \
    X(vkDestroyDescriptorSetLayout)  \
    X(vkCreatePipelineLayout)        \
    X(vkDestroyPipelineLayout)       \
    X(vkCreateComputePipelines)      \
    X(vkDestroyPipeline)             \
    X(vkCreateDescriptorPool)        \
    X(vkDestroyDescriptorPool)       \
    X(vkAllocateDescriptorSets)      \
    X(vkUpdateDescriptorSets)        \
    X(vkCreateCommandPool)           \
    X(vkDestroyCommandPool)          \
    X(vkAllocateCommandBuffers)      \
    X(vkBeginCommandBuffer)          \
    X(vkEndCommandBuffer)            \
    X(vkCmdBindPipeline)             \
    X(vkCmdBindDescriptorSets)       \
    X(vkCmdPushConstants)            \
    X(vkCmdDispatch)                 \
    X(vkCmdCopyBuffer)               \
    X(vkCmdFillBuffer)               \
    X(vkCmdPipelineBarrier)          \
    X(vkCreateFence)                 \
    X(vkDestroyFence)                \
    X(vkWaitForFences)               \
    X(vkResetFences)                 \
    X(vkCreateSemaphore)             \
    X(vkDestroySemaphore)            \
    X(vkWaitSemaphores)              \
    X(vkGetSemaphoreCounterValue)    \
    X(vkCreateQueryPool)             \
    X(vkDestroyQueryPool)            \
    X(vkCmdResetQueryPool)           \
    X(vkCmdWriteTimestamp)           \
    X(vkGetQueryPoolResults)         \
    X(vkQueueSubmit)

template <typename T>
[[nodiscard]] T made(VkStructureType type) {
    T out{};
    out.sType = type;
    return out;
}

// A queue, and the lock for its submits: Vulkan requires that the host synchronises them.
struct Queue {
    std::uint32_t family = 0;
    VkQueue queue = VK_NULL_HANDLE;
    std::mutex mutex;
};

struct Device : Fixed {
#define WYE_BENCH_MEMBER(name) PFN_##name name = nullptr;
    WYE_BENCH_INSTANCE_CALLS(WYE_BENCH_MEMBER)
    WYE_BENCH_DEVICE_CALLS(WYE_BENCH_MEMBER)
#undef WYE_BENCH_MEMBER
    VkInstance instance = VK_NULL_HANDLE;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE;
    VkPhysicalDeviceMemoryProperties memory{};
    Queue first;  // of the first family with compute
    // A queue of a family with compute but without graphics, and the queues of a family that only
    // copies; not every device has such families.
    std::optional<Queue> compute_only;
    std::vector<std::unique_ptr<Queue>> copies;
    std::vector<std::uint32_t> families;  // the families in use

    ~Device();
    // `kernels`: enables all of the device's features for kernels, and opens no queue but `first`.
    // MISSING_DEPENDENCY: no loader or driver. NO_DEVICE: no device of that name.
    [[nodiscard]] Result<void> open(const std::string& name, bool kernels = false);

  private:
    [[nodiscard]] Result<void> find(const std::string& name);
    [[nodiscard]] Result<void> start(bool kernels);
};

// A buffer with memory of its own.
class Memory : Fixed {
  public:
    explicit Memory(const Device& device) : device_(device) {}
    ~Memory();
    [[nodiscard]] Result<void> on_device(std::uint64_t bytes);
    [[nodiscard]] Result<void> on_host(std::uint64_t bytes);  // mapped, cached if possible

    VkBuffer buffer = VK_NULL_HANDLE;
    std::byte* host = nullptr;

  private:
    [[nodiscard]] Result<void> make(std::uint64_t bytes, VkMemoryPropertyFlags flags);

    const Device& device_;
    VkDeviceMemory memory_ = VK_NULL_HANDLE;
};

// A compute pipeline for some storage buffers and 32-bit push constants.
class Kernel : Fixed {
  public:
    explicit Kernel(const Device& device) : device_(device) {}
    ~Kernel();
    [[nodiscard]] Result<void> open(std::span<const std::uint32_t> words, std::uint32_t buffers,
                                    std::uint32_t push_bytes = 4);
    // Makes a descriptor set, which lives as long as the kernel. A kernel has at most kSets sets.
    [[nodiscard]] Result<VkDescriptorSet> bind(std::span<const VkBuffer> buffers);
    void bind_again(VkDescriptorSet set, std::span<const VkBuffer> buffers) const;
    void dispatch(VkCommandBuffer to, VkDescriptorSet set, std::span<const std::uint32_t> push,
                  std::array<std::uint32_t, 3> groups) const;
    void dispatch(VkCommandBuffer to, VkDescriptorSet set, std::uint32_t count,
                  std::uint32_t groups) const;

    static constexpr std::uint32_t kSets = 256;

  private:
    const Device& device_;
    VkDescriptorSetLayout sets_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkPipeline pipeline_ = VK_NULL_HANDLE;
    VkDescriptorPool pool_ = VK_NULL_HANDLE;
};

// A command buffer with its own pool, and a fence.
class Commands : Fixed {
  public:
    explicit Commands(const Device& device) : device_(device) {}
    ~Commands();
    [[nodiscard]] Result<void> open(Queue& queue);

    // Records the commands that body(command buffer) adds.
    template <typename Body>
    [[nodiscard]] Result<void> record(VkCommandBufferUsageFlags usage, Body&& body) {
        auto begin = made<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
        begin.flags = usage;
        TRY_VK(device_.vkBeginCommandBuffer(buffer_, &begin));
        body(buffer_);
        TRY_VK(device_.vkEndCommandBuffer(buffer_));
        return {};
    }
    [[nodiscard]] Result<void> submit(bool with_fence) {
        VkSubmitInfo info = made<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
        info.commandBufferCount = 1;
        info.pCommandBuffers = &buffer_;
        const std::scoped_lock lock(queue_->mutex);
        TRY_VK(device_.vkQueueSubmit(queue_->queue, 1, &info,
                                     with_fence ? fence_ : VkFence(VK_NULL_HANDLE)));
        pending_ = pending_ || with_fence;
        return {};
    }
    // Waits for the fence of the last submit that had one.
    [[nodiscard]] Result<void> wait() {
        if (!pending_) return {};
        TRY_VK(device_.vkWaitForFences(device_.device, 1, &fence_, VK_TRUE, UINT64_MAX));
        TRY_VK(device_.vkResetFences(device_.device, 1, &fence_));
        pending_ = false;
        return {};
    }
    [[nodiscard]] VkCommandBuffer get() const { return buffer_; }
    [[nodiscard]] Queue& queue() const { return *queue_; }

  private:
    const Device& device_;
    Queue* queue_ = nullptr;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkCommandBuffer buffer_ = VK_NULL_HANDLE;
    VkFence fence_ = VK_NULL_HANDLE;
    bool pending_ = false;
};

// Makes earlier writes visible to later commands, or to the host.
void barrier(const Device& device, VkCommandBuffer to, VkPipelineStageFlags from,
             VkAccessFlags written, VkPipelineStageFlags until, VkAccessFlags read);

}  // namespace wye::bench::vulkan
