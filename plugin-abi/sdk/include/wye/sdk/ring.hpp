// SPDX-License-Identifier: Apache-2.0
//
// Which bytes of a ring are in use, and until when. Pure arithmetic.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "wye/sdk/mutex.hpp"

namespace wye::sdk {

// Ranges are taken in order, marked with the value that ends their use, and come back in order. Not
// synchronised.
class Ring {
  public:
    explicit Ring(std::uint64_t size) : size_(size) {}

    // The offset of `size` free bytes in one piece, or none. `alignment` is a power of two.
    [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t size, std::uint64_t alignment);
    // What was taken since the last mark is in use until `value` is reached. Values ascend.
    void mark(std::uint64_t value);
    // What was taken since the last mark was not used after all.
    void drop();
    // Everything up to `value` has been reached.
    void release(std::uint64_t value);

    // The value that has to be reached for the oldest range to come back; none: nothing is marked.
    [[nodiscard]] std::optional<std::uint64_t> oldest() const;

  private:
    struct Mark {
        std::uint64_t value;
        std::uint64_t end;
    };

    // Positions count bytes for ever; the offset is the position modulo the size.
    std::uint64_t size_;
    std::uint64_t begin_ = 0, end_ = 0, marked_ = 0;
    std::deque<Mark> marks_;
};

// A Ring from which one thread takes while others see that values are reached. Thread-safe.
class LockedRing {
  public:
    explicit LockedRing(std::uint64_t size) : ring_(size) {}

    [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t size, std::uint64_t alignment) {
        const Lock lock(mutex_);
        return ring_.take(size, alignment);
    }
    void mark(std::uint64_t value) {
        const Lock lock(mutex_);
        ring_.mark(value);
    }
    void drop() {
        const Lock lock(mutex_);
        ring_.drop();
    }
    void release(std::uint64_t value) {
        const Lock lock(mutex_);
        ring_.release(value);
    }
    [[nodiscard]] std::optional<std::uint64_t> oldest() const {
        const Lock lock(mutex_);
        return ring_.oldest();
    }

  private:
    mutable Mutex mutex_;
    Ring ring_ WYE_GUARDED_BY(mutex_);
};

}  // namespace wye::sdk
