// SPDX-License-Identifier: Apache-2.0
//
// A kernel object of the driver, and what its arguments are set to: a launch sets those that
// changed. One thread at a time.
#pragma once

#include <cstddef>
#include <vector>

#include "opencl/device.hpp"
#include "wye/sdk/launch_shape.hpp"

namespace wye::opencl {

class Kernel {
  public:
    Kernel() = default;
    // `shape` outlives it.
    Kernel(Device& device, const sdk::LaunchShape& shape, KernelHandle handle);

    [[nodiscard]] cl_kernel get() const { return handle_.get(); }
    // Sets the arguments of a launch. A range that starts within its buffer becomes a sub-buffer,
    // which `temporary` gets: it may go once the launch is queued, or must stay until the argument
    // is set again.
    [[nodiscard]] Result<void> set(const wye_dispatch_op& op, std::vector<MemoryHandle>& temporary);

  private:
    // The current value of a kernel argument: a whole buffer's serial, a word, or else bytes.
    struct Argument {
        wye_slot slot{};
        std::uint64_t word = kUnknown;
        std::vector<std::byte> bytes;
    };
    static constexpr std::uint64_t kUnknown = UINT64_MAX;  // neither a serial nor a length

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
