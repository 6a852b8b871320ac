// SPDX-License-Identifier: Apache-2.0
//
// Buffer: memory of at least Context::kLeastBytes, so that its first element is always readable.
// Only staging memory is mapped, since OpenCL forbids commands on a mapped buffer. Free-threaded.
#pragma once

#include "opencl/context/host_mapping.hpp"
#include "opencl/device.hpp"

namespace wye::opencl {

class Buffer {
  public:
    // The error DEVICE_MEMORY states the requested and the total bytes.
    [[nodiscard]] static Result<std::unique_ptr<Buffer>> create(Device& device,
                                                                const wye_buffer_desc& desc);
    // Retains a `cl_mem` of the application. WRONG_OWNER: the `cl_mem` is of another context.
    [[nodiscard]] static Result<std::unique_ptr<Buffer>> adopt(Device& device,
                                                               const wye_buffer_desc& desc);
    ~Buffer() { device_.allocated.fetch_sub(size_); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    // UNSUPPORTED: the buffer is not staging memory.
    [[nodiscard]] Result<sdk::Mapping> map() const;

    [[nodiscard]] cl_mem memory() const { return memory_.get(); }
    // Adds the handles for the extension wye.native_handle.
    [[nodiscard]] Result<void> native(sdk::NativeValues& out) const {
        out.add("cl_mem", memory_.get());
        return {};
    }
    [[nodiscard]] std::byte* mapped() const { return host_.get(); }  // null: not mapped
    [[nodiscard]] std::uint64_t serial() const { return serial_; }   // unique per device

  private:
    // `size`: the bytes that the plugin allocated for this buffer; 0 for a buffer of the
    // application.
    Buffer(Device& device, MemoryHandle memory, std::uint64_t size)
        : device_(device),
          memory_(std::move(memory)),
          size_(size),
          serial_(device.next_serial.fetch_add(1)) {
        device_.allocated.fetch_add(size_);
    }

    Device& device_;
    MemoryHandle memory_;
    HostMapping host_;
    const std::uint64_t size_, serial_;
};

[[nodiscard]] inline Buffer& buffer_of(wye_buffer_object* object) {
    return *reinterpret_cast<Buffer*>(object);
}

}  // namespace wye::opencl
