// SPDX-License-Identifier: Apache-2.0
//
// Zeroed memory for one output. Pages are allocated at their first write, so that a size that the
// device refuses costs nothing. Owns its pages; move-only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "wye/sdk/result.hpp"

namespace wye::tool {

class Memory {
  public:
    Memory() = default;
    Memory(Memory&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    Memory& operator=(Memory&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Memory();

    // OUT_OF_MEMORY states the number of bytes and their use.
    [[nodiscard]] static Result<Memory> of(std::uint64_t size, std::string_view what);

    [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }

  private:
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

[[nodiscard]] Error no_memory(std::uint64_t size, std::string_view what);

}  // namespace wye::tool
