// SPDX-License-Identifier: Apache-2.0
//
// Recycler: reuses the memory of objects of one size that every submit makes and frees, so that a
// steady stream of submits allocates nothing. Free-threaded; outlives its objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "wye/sdk/mutex.hpp"

namespace wye::exec {

class Recycler {
  public:
    Recycler() = default;
    ~Recycler() { (void)clear(); }
    Recycler(const Recycler&) = delete;
    Recycler& operator=(const Recycler&) = delete;

    // Returns memory, like `operator new`. Only blocks of the size of the first call are recycled.
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

    // Frees the idle memory. Returns its bytes.
    std::uint64_t clear() noexcept {
        Idle* first = nullptr;
        std::uint64_t bytes = 0;
        {
            const sdk::Lock lock(mutex_);
            first = std::exchange(first_, nullptr);
            bytes = std::exchange(idle_, 0) * size_;
        }
        while (first != nullptr) ::operator delete(std::exchange(first, first->next));
        return bytes;
    }

    // Like new and delete, for objects of at most the default alignment of operator new.
    template <typename T, typename... Arguments>
    [[nodiscard]] T* make(Arguments&&... arguments) {
        static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
        void* const memory = take(sizeof(T));
        try {
            return new (memory) T(std::forward<Arguments>(arguments)...);
        } catch (...) {
            give_back(memory, sizeof(T));
            throw;
        }
    }
    template <typename T>
    void destroy(T* object) noexcept {
        object->~T();
        give_back(object, sizeof(T));
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

}  // namespace wye::exec
