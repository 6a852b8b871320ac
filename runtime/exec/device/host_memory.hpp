// SPDX-License-Identifier: Apache-2.0
//
// HostMemory: a pool of host memory blocks for the inputs and outputs that pending dispatches own.
// Blocks are reused so that a steady stream of dispatches touches no new pages. Free-threaded;
// outlives its blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <utility>

#include "exec/device/reuse.hpp"
#include "wye/sdk/mutex.hpp"

namespace wye::exec {

class HostMemory;

// Owns a block or is empty. Returns the block to its pool when destroyed. Move-only.
class HostBlock {
  public:
    HostBlock() = default;
    HostBlock(HostBlock&& other) noexcept { *this = std::move(other); }
    HostBlock& operator=(HostBlock&& other) noexcept {
        std::swap(pool_, other.pool_);
        held_.swap(other.held_);
        return *this;
    }
    ~HostBlock() { release(); }
    void release() noexcept;

    [[nodiscard]] std::byte* data() const noexcept {
        return held_.empty() ? nullptr : held_.front().bytes.get();
    }

  private:
    friend class HostMemory;
    struct Memory {
        std::unique_ptr<std::byte[]> bytes;
        std::size_t capacity = 0;
        std::uint64_t round = 0;  // the pool's `round_` when the block was given back last
    };
    HostMemory* pool_ = nullptr;
    // The block as the only element of a list, so that it moves to the pool's list without an
    // allocation. Empty: there is no block.
    std::list<Memory> held_;
};

class HostMemory {
  public:
    // Returns a block of at least `size` bytes, with unspecified contents.
    [[nodiscard]] HostBlock take(std::size_t size);
    // Frees the idle blocks. Returns their bytes.
    std::uint64_t clear() noexcept;
    [[nodiscard]] PoolBytes bytes() const noexcept;
    // `size` rounded up to a multiple of 64: the ranges in a block begin at such multiples.
    [[nodiscard]] static std::size_t padded(std::uint64_t size) noexcept {
        return static_cast<std::size_t>((size + 63) / 64 * 64);
    }

  private:
    friend class HostBlock;
    using Memory = HostBlock::Memory;
    void put(std::list<Memory>& held) noexcept;

    static constexpr std::size_t kMostIdle = std::size_t{256} << 20U;  // bytes of all idle blocks
    // An idle block is freed after this many other blocks were given back.
    static constexpr std::uint64_t kKeepRounds = 1024;

    mutable sdk::Mutex mutex_;
    std::list<Memory> idle_ WYE_GUARDED_BY(mutex_);  // the oldest first
    std::size_t bytes_ WYE_GUARDED_BY(mutex_) = 0;   // of all blocks
    std::size_t idle_bytes_ WYE_GUARDED_BY(mutex_) = 0;
    std::uint64_t round_ WYE_GUARDED_BY(mutex_) = 0;
};

inline void HostBlock::release() noexcept {
    if (!held_.empty()) pool_->put(held_);
}

}  // namespace wye::exec
