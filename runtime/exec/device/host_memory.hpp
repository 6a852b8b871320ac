// SPDX-License-Identifier: Apache-2.0
//
// HostMemory: a pool of host memory blocks for the inputs and outputs that pending dispatches own.
// Blocks are reused so that a steady stream of dispatches touches no new pages. Free-threaded;
// outlives its blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

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
        std::swap(bytes_, other.bytes_);
        std::swap(capacity_, other.capacity_);
        return *this;
    }
    ~HostBlock() { release(); }
    void release() noexcept;

    [[nodiscard]] std::byte* data() const noexcept { return bytes_.get(); }

  private:
    friend class HostMemory;
    HostMemory* pool_ = nullptr;
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t capacity_ = 0;
};

class HostMemory {
  public:
    // Returns a block of at least `size` bytes, with unspecified contents.
    [[nodiscard]] HostBlock take(std::size_t size);

  private:
    friend class HostBlock;
    struct Idle {
        std::unique_ptr<std::byte[]> bytes;
        std::size_t capacity = 0;
        std::uint64_t round = 0;
    };
    void put(std::unique_ptr<std::byte[]> bytes, std::size_t capacity) noexcept;

    static constexpr std::size_t kMostIdle = std::size_t{256} << 20U;  // bytes
    // An idle block is freed after this many other blocks were given back.
    static constexpr std::uint64_t kKeepRounds = 1024;

    sdk::Mutex mutex_;
    std::deque<Idle> idle_ WYE_GUARDED_BY(mutex_);  // the oldest first
    std::size_t idle_bytes_ WYE_GUARDED_BY(mutex_) = 0;
    std::uint64_t round_ WYE_GUARDED_BY(mutex_) = 0;
};

inline void HostBlock::release() noexcept {
    if (bytes_) pool_->put(std::move(bytes_), capacity_);
}

}  // namespace wye::exec
