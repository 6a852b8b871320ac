// SPDX-License-Identifier: Apache-2.0
//
// Device: an opened device, with its VkDevice and the state that its buffers, programs, commands
// and queues share. Free-threaded; the host closes a device only after these objects are gone. A
// lost VkDevice cannot be recovered: the host opens the device again.
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
    // The buffer that is bound for empty ranges, since a kernel may read element 0 of any range.
    [[nodiscard]] const Buffer& nothing() const { return *nothing_; }
    // The device's memory, with the free part if the driver reports a memory budget.
    [[nodiscard]] Result<sdk::MemoryState> memory() const;
    // Adds the handles for the extension wye.native_handle.
    [[nodiscard]] Result<void> native(sdk::NativeValues& out) const {
        out.add("VkDevice", handle());
        out.add("VkPhysicalDevice", info.handle);
        out.add("VkInstance", plugin.instance->get());
        return {};
    }

    // Returns the error of a failed driver call, and records a loss of the device. An empty subject
    // stands for the device's name.
    [[nodiscard]] Error failed(VkResult result, std::string_view call,
                               std::string_view subject = {});
    [[nodiscard]] Result<void> check(VkResult result, std::string_view call,
                                     std::string_view subject = {}) {
        if (result == VK_SUCCESS) return {};
        return failed(result, call, subject);
    }

    std::atomic<std::uint64_t> next_serial{1};  // numbers buffers and programs
    std::atomic<std::uint32_t> allocations{0};  // live allocations; Vulkan limits their number
    // Whether work of this device may wait for an event of the application, now or later. If
    // so, a submit should not make the host wait for earlier work.
    std::atomic<bool> follows_application{false};

  private:
    Device(Plugin& owner, const DeviceInfo& found);

    std::unique_ptr<Context> context_;
    std::unique_ptr<Buffer> nothing_;
};

[[nodiscard]] inline Device& device_of(wye_device_object* object) {
    return sdk::DeviceSlots<Device>::of(object);
}

}  // namespace wye::vulkan
