// SPDX-License-Identifier: Apache-2.0
//
// Device: an opened device: its VkDevice, and the state that its objects share. [FREE]; the host
// keeps it alive until its objects are gone. A lost VkDevice cannot be recovered: the host opens
// the device again.
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
    // A buffer to bind for empty ranges, since a kernel may always read one element.
    [[nodiscard]] const Buffer& nothing() const { return *nothing_; }
    // The driver's budget, if it reports one.
    [[nodiscard]] Result<sdk::MemoryState> memory() const;
    // Adds the handles for the extension wye.native_handle.
    [[nodiscard]] Result<void> native(sdk::NativeValues& out) const {
        out.add("VkDevice", handle());
        out.add("VkPhysicalDevice", info.handle);
        out.add("VkInstance", plugin.instance->get());
        return {};
    }

    // Makes the error of a failed call, and records a loss. An empty subject means the device's
    // name.
    [[nodiscard]] Error failed(VkResult result, std::string_view call,
                               std::string_view subject = {});
    [[nodiscard]] Result<void> check(VkResult result, std::string_view call,
                                     std::string_view subject = {}) {
        if (result == VK_SUCCESS) return {};
        return failed(result, call, subject);
    }

    std::atomic<std::uint64_t> next_serial{1};  // numbers buffers and programs
    std::atomic<std::uint32_t> allocations{0};  // live allocations, whose number Vulkan limits

  private:
    Device(Plugin& owner, const DeviceInfo& found);

    std::unique_ptr<Context> context_;
    std::unique_ptr<Buffer> nothing_;
};

[[nodiscard]] inline Device& device_of(wye_device_object* object) {
    return sdk::DeviceSlots<Device>::of(object);
}

}  // namespace wye::vulkan
