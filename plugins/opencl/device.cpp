// SPDX-License-Identifier: Apache-2.0
#include "opencl/device.hpp"

#include "opencl/status.hpp"

namespace wye::opencl {

Result<std::unique_ptr<Device>> Device::create(Plugin& plugin, const DeviceInfo& info) {
    std::unique_ptr<Device> device(new Device(plugin, info));
    const bool lost_before = plugin.lost_any.load();
    WYE_ASSIGN(device->context_, Context::create(*plugin.driver, info, lost_before));
    return device;
}

Result<sdk::MemoryState> Device::memory() const {
    return sdk::MemoryState{info.memory_bytes, UINT64_MAX};  // OpenCL does not report free memory
}

Error Device::failed(cl_int status, std::string_view call, std::string_view subject) const {
    return native_error(status, call, subject.empty() ? std::string_view(info.name) : subject);
}

// quirk nvidia-cl-loss, and similar behaviour of other drivers.
Error Device::judged(Error error) {
    if (error.native_domain != Plugin::kDomain || !hints_at_loss(error.native_code)) return error;
    if (!loss.lost() && context().answers()) return error;
    error.code = Code::DEVICE_LOST;
    error.fix = sdk::errors::kOpenAgain;
    loss.record(error);
    plugin.lost_any.store(true);
    return error;
}

}  // namespace wye::opencl
