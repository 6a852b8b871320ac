// SPDX-License-Identifier: Apache-2.0
//
// StagingMemory: a pool of host memory blocks that a device copies from and to at full bus speed
// (native buffers of the usage STAGING). Blocks are reused, since they are slow to make. The total
// size of a device's blocks is limited. At the limit `take` returns an empty block, and the caller
// leaves the transfer to the driver. Free-threaded; outlives its blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <utility>

#include "exec/device/reuse.hpp"
#include "registry/open/device.hpp"
#include "wye/sdk/mutex.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

class StagingMemory;

// Owns a block or is empty. The destructor returns the block to its pool; by then the device must
// not use the block any more. Move-only.
class StagingBlock {
  public:
    StagingBlock() = default;
    StagingBlock(StagingBlock&& other) noexcept { *this = std::move(other); }
    StagingBlock& operator=(StagingBlock&& other) noexcept {
        std::swap(pool_, other.pool_);
        std::swap(native_, other.native_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~StagingBlock() { release(); }
    void release() noexcept;

    explicit operator bool() const noexcept { return bytes_ != nullptr; }
    [[nodiscard]] std::byte* data() const noexcept { return bytes_; }
    [[nodiscard]] wye_buffer_object* object() const noexcept { return native_->object(); }
    // Called after the host wrote bytes that the device will copy.
    [[nodiscard]] Result<void> written(std::uint64_t offset, std::uint64_t size) const {
        return native_->sync(offset, size, WYE_SYNC_TO_DEVICE);
    }
    // Called before the host reads bytes that the device copied.
    [[nodiscard]] Result<void> arrived(std::uint64_t offset, std::uint64_t size) const {
        return native_->sync(offset, size, WYE_SYNC_TO_HOST);
    }

  private:
    friend class StagingMemory;
    StagingMemory* pool_ = nullptr;
    std::optional<registry::NativeBuffer> native_;
    std::byte* bytes_ = nullptr;
};

class StagingMemory {
  public:
    // `limit`: in bytes; 0 turns staging memory off.
    explicit StagingMemory(std::uint64_t limit) : limit_(limit), off_(limit == 0) {}

    // Whether staging memory is on: false if the limit is 0 or the device does not support it.
    [[nodiscard]] bool on() const;
    // Returns a block of at least `size` bytes, with unspecified contents. Empty if the limit is
    // reached or the device does not support staging memory. Errors: those of the driver.
    [[nodiscard]] Result<StagingBlock> take(const registry::DeviceRef& device, std::uint64_t size);
    // Frees the idle blocks. Returns their bytes.
    std::uint64_t clear() noexcept;
    [[nodiscard]] PoolBytes bytes() const noexcept;
    // The number of blocks in use.
    [[nodiscard]] std::uint64_t lent() const;

  private:
    friend class StagingBlock;
    struct Idle {
        registry::NativeBuffer native;
        std::byte* bytes = nullptr;
        std::uint64_t round = 0;
    };
    // Room for a block that is about to be made; given back by the destructor unless `made` is set.
    struct Reserved {
        StagingMemory& pool;
        std::uint64_t capacity;
        bool made = false;
        ~Reserved();
    };
    void put(registry::NativeBuffer native, std::byte* bytes) noexcept;
    [[nodiscard]] Result<StagingBlock> make(const registry::DeviceRef& device,
                                            std::uint64_t capacity);
    [[nodiscard]] bool reuse(std::uint64_t size, StagingBlock& out) WYE_REQUIRES(mutex_);
    // Reserves room under the limit for a new block. If there is not enough, first moves idle
    // blocks to `old`, to be freed.
    [[nodiscard]] bool reserve(std::uint64_t capacity, std::list<Idle>& old) WYE_REQUIRES(mutex_);

    // An idle block is freed after this many other blocks were given back.
    static constexpr std::uint64_t kKeepRounds = 1024;

    const std::uint64_t limit_;
    mutable sdk::Mutex mutex_;
    bool off_ WYE_GUARDED_BY(mutex_);
    std::list<Idle> idle_ WYE_GUARDED_BY(mutex_);     // the oldest first
    std::uint64_t bytes_ WYE_GUARDED_BY(mutex_) = 0;  // of all blocks
    std::uint64_t lent_ WYE_GUARDED_BY(mutex_) = 0;
    std::uint64_t round_ WYE_GUARDED_BY(mutex_) = 0;
};

inline void StagingBlock::release() noexcept {
    if (bytes_ == nullptr) return;
    registry::NativeBuffer native = *std::move(native_);
    native_.reset();
    pool_->put(std::move(native), std::exchange(bytes_, nullptr));
}

}  // namespace wye::exec
