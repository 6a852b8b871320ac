// SPDX-License-Identifier: Apache-2.0
//
// ScratchPool: owns device buffers for host arguments and reuses them, so that repeated dispatches
// do not allocate. Not synchronised: only the thread that has the workspace uses the pool.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/device/memory.hpp"

namespace wye::exec {

class ScratchPool {
  public:
    // Takes a buffer of at least `size` bytes, with unspecified contents, until release_all().
    // Null: no buffer fits. The caller then makes a buffer of `capacity(size)` bytes, aligned to
    // `aligned(alignment)`, and calls `add`.
    [[nodiscard]] wye_buffer_object* take(std::uint64_t size, std::uint32_t alignment);
    [[nodiscard]] static std::uint64_t capacity(std::uint64_t size) noexcept;
    [[nodiscard]] static std::uint32_t aligned(std::uint32_t alignment) noexcept;
    // Adds a buffer, and takes it.
    wye_buffer_object* add(HeldBuffer buffer, std::uint32_t alignment);
    // Releases all taken buffers, which ends a round. Frees the buffers that were not used in the
    // last kKeepRounds rounds.
    void release_all() {
        if (!buffers_.empty()) end_round();  // inline, as repeated dispatches take no buffer
    }
    // Frees all buffers that are not taken. Returns their bytes.
    std::uint64_t drop_free() noexcept;
    // The bytes of all buffers of the pool.
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
