// SPDX-License-Identifier: Apache-2.0
//
// Ring, LockedRing: allocate ranges of a ring buffer. They only compute offsets, and do not own the
// buffer.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "wye/sdk/fifo.hpp"
#include "wye/sdk/mutex.hpp"

namespace wye::sdk {

// Ranges are taken in order, marked with the timeline value that ends their use, and freed in
// order. Not synchronised.
class Ring {
  public:
    explicit Ring(std::uint64_t size) : size_(size) {}

    // Takes `size` contiguous bytes and returns their offset, or nothing if they are not free.
    // `alignment` is a power of two.
    [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t size, std::uint64_t alignment);
    // Marks the ranges taken since the last mark as in use until `value` is reached. Values ascend.
    void mark(std::uint64_t value);
    // Frees the ranges taken since the last mark.
    void drop();
    // Frees the ranges marked with values up to `value`.
    void release(std::uint64_t value);

    // The value that frees the oldest range; nothing if no range is marked.
    [[nodiscard]] std::optional<std::uint64_t> oldest() const;
    // Whether no range is taken.
    [[nodiscard]] bool empty() const { return marks_.empty() && end_ == marked_; }

  private:
    struct Mark {
        std::uint64_t value = 0;
        std::uint64_t end = 0;
    };

    // Positions only grow; a range's offset is its position modulo the size.
    std::uint64_t size_;
    std::uint64_t begin_ = 0, end_ = 0, marked_ = 0;
    Fifo<Mark> marks_;
};

// A Ring from which one thread takes ranges while others free them. Thread-safe. `mark` and
// `release` cost little while no range is taken.
class LockedRing {
  public:
    explicit LockedRing(std::uint64_t size) : ring_(size) {}

    [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t size, std::uint64_t alignment) {
        const Lock lock(mutex_);
        taken_.store(true, std::memory_order_relaxed);
        return ring_.take(size, alignment);
    }
    void mark(std::uint64_t value) {
        if (!taken_.load(std::memory_order_relaxed)) return;
        const Lock lock(mutex_);
        ring_.mark(value);
    }
    void drop() {
        const Lock lock(mutex_);
        ring_.drop();
        taken_.store(!ring_.empty(), std::memory_order_relaxed);
    }
    void release(std::uint64_t value) {
        if (!taken_.load(std::memory_order_relaxed)) return;
        const Lock lock(mutex_);
        ring_.release(value);
        taken_.store(!ring_.empty(), std::memory_order_relaxed);
    }
    [[nodiscard]] std::optional<std::uint64_t> oldest() const {
        const Lock lock(mutex_);
        return ring_.oldest();
    }

  private:
    mutable Mutex mutex_;
    Ring ring_ WYE_GUARDED_BY(mutex_);
    // Whether a range may be in use; read without the lock. A thread that has a range to mark or to
    // free never reads false: it took the range itself, or it learnt that the range's value was
    // reached, which happens after the range was taken.
    std::atomic<bool> taken_{false};
};

}  // namespace wye::sdk
