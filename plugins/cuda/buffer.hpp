// SPDX-License-Identifier: Apache-2.0
//
// A buffer of at least Context::kLeastBytes, so that its first element is always readable. [FREE].
#pragma once

#include "cuda/device.hpp"

namespace wye::cuda {

class Buffer {
  public:
    // DEVICE_MEMORY, with the requested and the free bytes.
    [[nodiscard]] static Result<std::unique_ptr<Buffer>> create(Device& device,
                                                                const wye_buffer_desc& desc);

    [[nodiscard]] CUdeviceptr memory() const { return memory_.get(); }

  private:
    explicit Buffer(Context::Memory memory) : memory_(std::move(memory)) {}

    Context::Memory memory_;
};

[[nodiscard]] inline Buffer& buffer_of(wye_buffer_object* object) {
    return *reinterpret_cast<Buffer*>(object);
}

}  // namespace wye::cuda
