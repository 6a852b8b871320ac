// SPDX-License-Identifier: Apache-2.0
//
// Device: the machine, opened as a device. Devices of the same plugin share the plugin's threads. A
// device is never lost. Free-threaded. The host keeps a device alive until the device's objects are
// destroyed.
#pragma once

#include "cpu/plugin.hpp"
#include "wye/sdk/command.hpp"

namespace wye::cpu {

class Buffer;
class Command;
class Program;
class Queue;

class Device {
  public:
    using Buffer = cpu::Buffer;
    using Program = cpu::Program;
    using Queue = cpu::Queue;
    using Command = cpu::Command;

    [[nodiscard]] static Result<std::unique_ptr<Device>> create(Plugin& plugin,
                                                                const DeviceInfo& info);

    Plugin& plugin;
    const DeviceInfo& info;
    sdk::LossState loss;

    [[nodiscard]] const KernelSet& kernels() const { return *plugin.kernels; }
    [[nodiscard]] Pool& pool() const { return *plugin.pool; }
    [[nodiscard]] Result<sdk::MemoryState> memory() const;
    // For the extension wye.native_handle. Always fails, since there is no driver.
    [[nodiscard]] Result<void> native(sdk::NativeValues&) const { return no_handle("device"); }

  private:
    Device(Plugin& owner, const DeviceInfo& found) : plugin(owner), info(found) {}
};

[[nodiscard]] inline Device& device_of(wye_device_object* object) {
    return sdk::DeviceSlots<Device>::of(object);
}

}  // namespace wye::cpu
