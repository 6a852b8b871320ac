// SPDX-License-Identifier: Apache-2.0
//
// One opened device: its VkDevice, and the state that its objects share. [FREE]; the host keeps it
// alive until its objects are gone. A lost VkDevice cannot be recovered: the host opens the device
// again.
#pragma once

#include <atomic>

#include "vulkan/context/context.hpp"
#include "vulkan/plugin.hpp"
#include "wye/sdk/command.hpp"

namespace wye::vulkan {

class Command;
class Program;
class Queue;
struct Buffer;

class Device {
  public:
    using Buffer = vulkan::Buffer;
    using Program = vulkan::Program;
    using Queue = vulkan::Queue;
    using Command = vulkan::Command;

    [[nodiscard]] static Result<std::unique_ptr<Device>> create(Plugin& plugin,
                                                                const DeviceInfo& info);
    ~Device();

    Plugin& plugin;
    const DeviceInfo& info;
    sdk::LossState loss;

    [[nodiscard]] Context& context() const { return *context_; }
    [[nodiscard]] const DeviceTable& vk() const { return context_->vk; }
    [[nodiscard]] VkDevice handle() const { return context_->handle; }
    // Bound for empty ranges: a kernel may always read one element.
    [[nodiscard]] const Buffer& nothing() const { return *nothing_; }
    // From the driver's budget, if it reports one.
    [[nodiscard]] Result<sdk::MemoryState> memory() const;
    // For wye.native_handle.
    [[nodiscard]] Result<void> native(sdk::NativeValues& out) const {
        out.add("VkDevice", handle());
        out.add("VkPhysicalDevice", info.handle);
        out.add("VkInstance", plugin.instance->get());
        return {};
    }

    // The error of a failed call; an empty subject is the device's name. Records a loss.
    [[nodiscard]] Error failed(VkResult result, std::string_view call,
                               std::string_view subject = {});
    [[nodiscard]] Result<void> check(VkResult result, std::string_view call,
                                     std::string_view subject = {}) {
        if (result == VK_SUCCESS) return {};
        return failed(result, call, subject);
    }

    std::atomic<std::uint64_t> next_serial{1};  // numbers buffers and programs
    std::atomic<std::uint32_t> allocations{0};  // number of allocations, which Vulkan limits

  private:
    Device(Plugin& owner, const DeviceInfo& found);

    std::unique_ptr<Context> context_;
    std::unique_ptr<Buffer> nothing_;
};

[[nodiscard]] inline Device& device_of(wye_device_object* object) {
    return sdk::DeviceSlots<Device>::of(object);
}

}  // namespace wye::vulkan
