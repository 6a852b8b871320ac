// SPDX-License-Identifier: Apache-2.0
//
// Buffer: host memory, aligned to a cache line, or application memory, used in place.
// Free-threaded.
#pragma once

#include <cstddef>
#include <cstdlib>

#include "cpu/device.hpp"

namespace wye::cpu {

class Buffer {
  public:
    // Fails with DEVICE_MEMORY if the system has no more memory.
    [[nodiscard]] static Result<std::unique_ptr<Buffer>> create(Device& device,
                                                                const wye_buffer_desc& desc);

    // Uses the application's memory (`void*`) in place.
    [[nodiscard]] static Result<std::unique_ptr<Buffer>> adopt(Device& device,
                                                               const wye_buffer_desc& desc);

    // Returns the memory itself, whatever the usage of the buffer.
    [[nodiscard]] Result<sdk::Mapping> map() const;

    [[nodiscard]] std::byte* data() const { return data_; }
    // Adds the handles for the extension wye.native_handle.
    [[nodiscard]] Result<void> native(sdk::NativeValues& out) const {
        out.add("void*", data_);
        return {};
    }

  private:
    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };
    using Memory = std::unique_ptr<std::byte, Free>;

    explicit Buffer(Memory memory) : memory_(std::move(memory)), data_(memory_.get()) {}
    explicit Buffer(void* application) : data_(static_cast<std::byte*>(application)) {}
    [[nodiscard]] static Memory allocate(std::uint64_t size, std::uint64_t alignment);

    Memory memory_;  // null: application memory
    std::byte* data_;
};

[[nodiscard]] inline Buffer& buffer_of(wye_buffer_object* object) {
    return *reinterpret_cast<Buffer*>(object);
}

}  // namespace wye::cpu
