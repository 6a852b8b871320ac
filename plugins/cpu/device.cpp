// SPDX-License-Identifier: Apache-2.0
#include "cpu/device.hpp"

namespace wye::cpu {

Result<std::unique_ptr<Device>> Device::create(Plugin& plugin, const DeviceInfo& info) {
    std::unique_ptr<Device> device(new Device(plugin, info));
    return device;
}

Result<sdk::MemoryState> Device::memory() const {
    return sdk::MemoryState{info.memory_bytes, free_bytes()};
}

}  // namespace wye::cpu
