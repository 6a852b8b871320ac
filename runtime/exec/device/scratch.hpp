// SPDX-License-Identifier: Apache-2.0
//
// ScratchPool: owns device buffers for host arguments and reuses them, so that repeated dispatches
// do not allocate. Not synchronised: the holder of the workspace uses it.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/device/memory.hpp"

namespace wye::exec {

class ScratchPool {
  public:
    // Takes a buffer of at least `size` bytes, with unspecified contents, until release_all().
    // Null: there is none; make one of `capacity(size)` bytes and `aligned(alignment)`, and add it.
    [[nodiscard]] wye_buffer_object* take(std::uint64_t size, std::uint32_t alignment);
    [[nodiscard]] static std::uint64_t capacity(std::uint64_t size) noexcept;
    [[nodiscard]] static std::uint32_t aligned(std::uint32_t alignment) noexcept;
    // Adds a buffer, and takes it.
    wye_buffer_object* add(HeldBuffer buffer, std::uint32_t alignment);
    // Releases all taken buffers. Frees buffers that the last kKeepRounds rounds did not use.
    void release_all() {
        if (!buffers_.empty()) end_round();  // inline: a repeated dispatch takes none
    }
    // Frees all buffers that are not taken. Returns their bytes.
    std::uint64_t drop_free() noexcept;
    // The bytes of all its buffers.
    [[nodiscard]] std::uint64_t bytes() const noexcept;

  private:
    void end_round();

    static constexpr std::uint64_t kKeepRounds = 64;
    struct Entry {
        HeldBuffer buffer;
        std::uint32_t alignment;
        bool taken;
        std::uint64_t round;  // of last use
    };
    std::vector<Entry> buffers_;
    std::uint64_t round_ = 0;
};

}  // namespace wye::exec
