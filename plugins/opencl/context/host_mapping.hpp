// SPDX-License-Identifier: Apache-2.0
//
// HostMapping: the mapping of staging memory. Staging memory stays mapped, so OpenCL commands must
// not use it. A copy from or to staging memory is a write or read of the other buffer, with the
// mapping as the host's memory.
#pragma once

#include <cstddef>
#include <utility>

#include "opencl/context/context.hpp"

namespace wye::opencl {

// The host's view of a whole buffer, mapped until this object is destroyed. Empty: not mapped.
class HostMapping {
  public:
    HostMapping() = default;
    HostMapping(Context& context, cl_mem memory, std::byte* address)
        : context_(&context), memory_(memory), address_(address) {}
    HostMapping(HostMapping&& other) noexcept { *this = std::move(other); }
    HostMapping& operator=(HostMapping&& other) noexcept {
        std::swap(context_, other.context_);
        std::swap(memory_, other.memory_);
        std::swap(address_, other.address_);
        return *this;
    }
    ~HostMapping() {
        if (address_ != nullptr) context_->unmap(memory_, address_);
    }
    [[nodiscard]] std::byte* get() const { return address_; }

  private:
    Context* context_ = nullptr;
    cl_mem memory_ = nullptr;
    std::byte* address_ = nullptr;
};

}  // namespace wye::opencl
