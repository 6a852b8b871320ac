// SPDX-License-Identifier: Apache-2.0
//
// Buffer: device or host memory, of at least Context::kLeastBytes so that its first element is
// always readable. Free-threaded.
#pragma once

#include "cuda/device.hpp"

namespace wye::cuda {

class Buffer {
  public:
    // Errors: DEVICE_MEMORY, with the requested and the free bytes; DUPLICATE for application
    // memory that is already registered.
    [[nodiscard]] static Result<std::unique_ptr<Buffer>> create(Device& device,
                                                                const wye_buffer_desc& desc);

    // Uses a `CUdeviceptr` of the application. WRONG_OWNER: the memory is of another device.
    [[nodiscard]] static Result<std::unique_ptr<Buffer>> adopt(Device& device,
                                                               const wye_buffer_desc& desc);

    // Error: UNSUPPORTED for buffers of the usage DEVICE.
    [[nodiscard]] Result<sdk::Mapping> map() const;

    [[nodiscard]] CUdeviceptr memory() const { return address_; }
    // Adds the handles for the extension wye.native_handle.
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
    Buffer(Device& device, CUdeviceptr adopted) : device_(device), address_(adopted) {}
    [[nodiscard]] static Result<std::unique_ptr<Buffer>> register_memory(
        Device& device, const wye_buffer_desc& desc);

    Device& device_;
    Context::Memory memory_;  // set if the usage is DEVICE and this object owns the memory
    // Page-locked memory, for all other usages. The driver maps it for the device at the same
    // address (unified addressing, which every 64-bit system has).
    HostMemoryHandle host_;
    // Page-locked application memory. Copies use its host address, whether or not its device
    // address is the same.
    RegisteredHandle registered_;
    const CUdeviceptr address_;
};

[[nodiscard]] inline Buffer& buffer_of(wye_buffer_object* object) {
    return *reinterpret_cast<Buffer*>(object);
}

}  // namespace wye::cuda
