// SPDX-License-Identifier: Apache-2.0
//
// One opened device: a VkDevice of its own, and what every object below needs. [FREE]; kept alive
// by the host until its objects are gone. A lost VkDevice does not come back: the device is opened
// again.
#pragma once

#include <atomic>
#include <vector>

#include "vulkan/handle.hpp"
#include "vulkan/plugin.hpp"
#include "vulkan/resources/layouts.hpp"

namespace wye::vulkan {

class Program;
class Queue;
struct Buffer;

// A VkQueue takes one call at a time; several of the plugin's queues may share it.
struct SharedQueue {
    sdk::Mutex mutex;
    VkQueue handle WYE_GUARDED_BY(mutex) = VK_NULL_HANDLE;
};

class Device {
  public:
    using Buffer = vulkan::Buffer;
    using Program = vulkan::Program;
    using Queue = vulkan::Queue;

    [[nodiscard]] static Result<std::unique_ptr<Device>> create(Plugin& plugin,
                                                                const DeviceInfo& info);
    ~Device();

    Plugin& plugin;
    const DeviceInfo& info;
    LogicalDevice logical;
    sdk::LossState loss;

    [[nodiscard]] const DeviceTable& vk() const { return logical.vk; }
    [[nodiscard]] VkDevice handle() const { return logical.handle; }
    // Stands for empty ranges: a kernel may always read one element.
    [[nodiscard]] const Buffer& nothing() const { return *nothing_; }
    // From the driver's budget, where it states one.
    [[nodiscard]] Result<sdk::MemoryState> memory() const;

    // The error of a failed call; an empty subject is the device's name. Remembers a loss.
    [[nodiscard]] Error failed(VkResult result, std::string_view call,
                               std::string_view subject = {});
    [[nodiscard]] Result<void> check(VkResult result, std::string_view call,
                                     std::string_view subject = {}) {
        if (result == VK_SUCCESS) return {};
        return failed(result, call, subject);
    }
    // The next of the VkQueues, in turn.
    [[nodiscard]] SharedQueue& next_queue() {
        return *queues_[turn_.fetch_add(1) % queues_.size()];
    }

    Layouts layouts;
    std::atomic<std::uint64_t> next_serial{1};  // numbers buffers and programs
    std::atomic<std::uint32_t> allocations{0};  // of device memory, which Vulkan limits in number

  private:
    Device(Plugin& owner, const DeviceInfo& found);

    std::vector<std::unique_ptr<SharedQueue>> queues_;
    std::atomic<std::uint32_t> turn_{0};
    std::unique_ptr<Buffer> nothing_;
};

[[nodiscard]] inline Device& device_of(wye_device_object* object) {
    return sdk::DeviceSlots<Device>::of(object);
}

}  // namespace wye::vulkan
