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
    WYE_ASSIGN(const std::uint64_t free, context().free_bytes());
    return sdk::MemoryState{info.memory_bytes, free};
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
    // If the context is not lost, the loss was only requested, by the extension wye.loss. The
    // context then still works, and other users may use it.
    if (!context().lost.load(std::memory_order_acquire)) return {};
    const CUresult status = context().reset();
    context().end();
    if (status == CUDA_SUCCESS) return acquire();
    Error error = native_error(driver, status, "cuDevicePrimaryCtxReset", info.name);
    error.fix = sdk::errors::kRestart;
    return error;
}

Result<void> Device::acquire() {
    WYE_ASSIGN(auto context, Context::create(driver, info, loss));
    contexts_.push_back(std::move(context));
    current_.store(contexts_.back().get(), std::memory_order_release);
    return {};
}

}  // namespace wye::cuda
