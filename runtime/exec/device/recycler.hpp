// SPDX-License-Identifier: Apache-2.0
//
// Recycler: reuses memory of objects that are made and freed at every submit and have one size, so
// that a steady stream of submits allocates nothing. Free-threaded; outlives its objects.
#pragma once

#include <cstddef>
#include <new>

#include "wye/sdk/mutex.hpp"

namespace wye::exec {

class Recycler {
  public:
    Recycler() = default;
    ~Recycler() {
        while (Idle* const block = first_) {
            first_ = block->next;
            ::operator delete(block);
        }
    }
    Recycler(const Recycler&) = delete;
    Recycler& operator=(const Recycler&) = delete;

    // Returns memory as operator new does. The size of the first call is the size that is recycled.
    [[nodiscard]] void* take(std::size_t size) {
        {
            const sdk::Lock lock(mutex_);
            if (size_ == 0) size_ = size;
            if (Idle* const block = first_; block != nullptr && size == size_) {
                first_ = block->next;
                --idle_;
                return block;
            }
        }
        return ::operator new(size);
    }
    void give_back(void* memory, std::size_t size) noexcept {
        {
            const sdk::Lock lock(mutex_);
            if (size == size_ && size >= sizeof(Idle) && idle_ < kMostIdle) {
                first_ = new (memory) Idle{first_};
                ++idle_;
                return;
            }
        }
        ::operator delete(memory);
    }

  private:
    struct Idle {
        Idle* next;
    };
    static constexpr std::size_t kMostIdle = 1024;

    sdk::Mutex mutex_;
    std::size_t size_ WYE_GUARDED_BY(mutex_) = 0;
    std::size_t idle_ WYE_GUARDED_BY(mutex_) = 0;
    Idle* first_ WYE_GUARDED_BY(mutex_) = nullptr;
};

// An allocator over a Recycler, for std::allocate_shared.
template <typename T>
class RecyclingAllocator {
  public:
    using value_type = T;

    explicit RecyclingAllocator(Recycler& recycler) noexcept : recycler_(&recycler) {}
    template <typename Other>
    RecyclingAllocator(const RecyclingAllocator<Other>& other) noexcept  // NOLINT: a conversion
        : recycler_(&other.recycler()) {}

    [[nodiscard]] T* allocate(std::size_t count) {
        static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
        return static_cast<T*>(recycler_->take(count * sizeof(T)));
    }
    void deallocate(T* memory, std::size_t count) noexcept {
        recycler_->give_back(memory, count * sizeof(T));
    }
    [[nodiscard]] Recycler& recycler() const noexcept { return *recycler_; }
    template <typename Other>
    [[nodiscard]] bool operator==(const RecyclingAllocator<Other>& other) const noexcept {
        return recycler_ == &other.recycler();
    }

  private:
    Recycler* recycler_;
};

}  // namespace wye::exec
