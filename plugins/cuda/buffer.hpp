// SPDX-License-Identifier: Apache-2.0
//
// A buffer of at least Context::kLeastBytes, so that its first element is always readable. [FREE].
#pragma once

#include "cuda/device.hpp"

namespace wye::cuda {

class Buffer {
  public:
    // DEVICE_MEMORY, with the requested and the free bytes. DUPLICATE for memory of the application
    // that is registered already.
    [[nodiscard]] static Result<std::unique_ptr<Buffer>> create(Device& device,
                                                                const wye_buffer_desc& desc);

    // UNSUPPORTED for device memory.
    [[nodiscard]] Result<sdk::Mapping> map() const;

    [[nodiscard]] CUdeviceptr memory() const { return address_; }
    // For wye.native_handle.
    [[nodiscard]] Result<void> native(sdk::NativeValues& out) const {
        out.add("CUdeviceptr", address_);
        return {};
    }

  private:
    Buffer(Device& device, Context::Memory memory)
        : device_(device), memory_(std::move(memory)), address_(memory_.get()) {}
    Buffer(Device& device, HostMemoryHandle host)
        : device_(device),
          host_(std::move(host)),
          address_(reinterpret_cast<CUdeviceptr>(host_.get())) {}
    Buffer(Device& device, RegisteredHandle registered)
        : device_(device),
          registered_(std::move(registered)),
          address_(reinterpret_cast<CUdeviceptr>(registered_.get())) {}
    [[nodiscard]] static Result<std::unique_ptr<Buffer>> register_memory(
        Device& device, const wye_buffer_desc& desc);

    Device& device_;
    Context::Memory memory_;  // for the usage DEVICE
    // Page-locked for all others. The driver maps it at the same address for the device (unified
    // addressing, which every 64-bit system has).
    HostMemoryHandle host_;
    // Of the application, page-locked. Copies take its address, wherever the device sees it.
    RegisteredHandle registered_;
    const CUdeviceptr address_;
};

[[nodiscard]] inline Buffer& buffer_of(wye_buffer_object* object) {
    return *reinterpret_cast<Buffer*>(object);
}

}  // namespace wye::cuda
