// SPDX-License-Identifier: Apache-2.0
//
// Kernel: a kernel object of the driver, and the current values of its arguments. A launch sets
// only the arguments that changed. One thread at a time.
#pragma once

#include <cstddef>
#include <vector>

#include "opencl/device.hpp"
#include "wye/sdk/launch_shape.hpp"

namespace wye::opencl {

class Kernel {
  public:
    Kernel() = default;
    // `shape` must outlive the kernel.
    Kernel(Device& device, const sdk::LaunchShape& shape, KernelHandle handle);

    [[nodiscard]] cl_kernel get() const { return handle_.get(); }
    // Sets the arguments of a launch. A range that does not start at byte 0 of its buffer becomes a
    // sub-buffer, which is added to `temporary`. The sub-buffer may be released once the launch is
    // queued, but not if the argument stays set for later launches.
    [[nodiscard]] Result<void> set(const wye_dispatch_op& op, std::vector<MemoryHandle>& temporary);

  private:
    // The current value of a kernel argument: a whole buffer's serial number, a word, or other
    // bytes.
    struct Argument {
        wye_slot slot{};
        std::uint64_t word = kUnknown;
        std::vector<std::byte> bytes;
    };
    static constexpr std::uint64_t kUnknown = UINT64_MAX;  // neither a serial number nor a length

    Result<void> set_word(cl_uint index, std::uint64_t word);
    Result<void> set_bytes(cl_uint index, const void* data, std::size_t size);
    Result<void> set_buffer(cl_uint index, const wye_binding& binding,
                            std::vector<MemoryHandle>& temporary);

    Device* device_ = nullptr;
    const sdk::LaunchShape* shape_ = nullptr;
    KernelHandle handle_;
    std::vector<Argument> arguments_;
};

}  // namespace wye::opencl
