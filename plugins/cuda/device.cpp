// SPDX-License-Identifier: Apache-2.0
#include "cuda/device.hpp"

#include "cuda/buffer.hpp"
#include "cuda/status.hpp"

namespace wye::cuda {

Result<std::unique_ptr<Device>> Device::create(Plugin& plugin, const DeviceInfo& info) {
    std::unique_ptr<Device> device(new Device(plugin, info));
    WYE_TRY(device->acquire());
    return device;
}

Result<sdk::MemoryState> Device::memory() const {
    const Current current(context());
    std::size_t free = 0;
    std::size_t total = 0;
    const CUresult status = driver.cuMemGetInfo(&free, &total);
    if (status != CUDA_SUCCESS) return native_error(driver, status, "cuMemGetInfo", info.name);
    return sdk::MemoryState{total, free};
}

Error Device::failed(CUresult status, std::string_view call, std::string_view subject) {
    Error error =
        native_error(driver, status, call, subject.empty() ? std::string_view(info.name) : subject);
    if (!sticky(status)) return error;
    loss.record(error);
    context().lost.store(true, std::memory_order_release);
    return error;
}

Result<void> Device::recover() {
    context().lost.store(true);
    const CUresult status = driver.cuDevicePrimaryCtxReset(info.id);
    context().end();
    if (status == CUDA_SUCCESS) return acquire();
    Error error = native_error(driver, status, "cuDevicePrimaryCtxReset", info.name);
    error.fix = sdk::errors::kRestart;
    return error;
}

Result<void> Device::acquire() {
    WYE_ASSIGN(auto context, Context::create(driver, info));
    contexts_.push_back(std::move(context));
    current_.store(contexts_.back().get(), std::memory_order_release);
    return {};
}

}  // namespace wye::cuda
