// SPDX-License-Identifier: Apache-2.0
#include "cpu/device.hpp"

#include <unistd.h>

namespace wye::cpu {

Result<std::unique_ptr<Device>> Device::create(Plugin& plugin, const DeviceInfo& info) {
    std::unique_ptr<Device> device(new Device(plugin, info));
    return device;
}

Result<sdk::MemoryState> Device::memory() const {
    sdk::MemoryState out{info.memory_bytes, UINT64_MAX};
    const long pages = sysconf(_SC_AVPHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    if (pages < 0 || page < 0) return out;
    out.free = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
    return out;
}

}  // namespace wye::cpu
