// SPDX-License-Identifier: Apache-2.0
#include "vulkan/device.hpp"

#include "vulkan/buffer.hpp"
#include "vulkan/status.hpp"

namespace wye::vulkan {

Device::Device(Plugin& owner, const DeviceInfo& found) : plugin(owner), info(found) {}
Device::~Device() = default;

Result<std::unique_ptr<Device>> Device::create(Plugin& plugin, const DeviceInfo& info) {
    std::unique_ptr<Device> device(new Device(plugin, info));
    WYE_ASSIGN(device->context_, Context::create(plugin.instance->table(), info));
    WYE_ASSIGN(device->nothing_, Buffer::create(*device, Buffer::kLeastBytes, "empty ranges"));
    return device;
}

Result<sdk::MemoryState> Device::memory() const {
    return sdk::MemoryState{info.memory_bytes(), context().free_bytes()};
}

Error Device::failed(VkResult result, std::string_view call, std::string_view subject) {
    Error error =
        native_error(result, call, subject.empty() ? std::string_view(info.name) : subject);
    if (result == VK_ERROR_DEVICE_LOST) loss.record(error);
    return error;
}

}  // namespace wye::vulkan
