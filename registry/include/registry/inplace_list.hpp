// SPDX-License-Identifier: Apache-2.0
//
// A list of at most N elements, stored inline because the dispatch path must not allocate.
// Move-only; a moved-from list is empty. The caller ensures that N suffices. One thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace wye::registry {

template <typename T, std::size_t N>
class InplaceList {
  public:
    InplaceList() noexcept = default;
    InplaceList(InplaceList&& other) noexcept { take(other); }
    InplaceList& operator=(InplaceList&& other) noexcept {
        if (this != &other) {
            clear();
            take(other);
        }
        return *this;
    }
    ~InplaceList() { clear(); }

    void push_back(T value) noexcept { new (raw_ + size_++ * sizeof(T)) T(std::move(value)); }
    void clear() noexcept {
        std::destroy_n(begin(), size_);
        size_ = 0;
    }

    [[nodiscard]] T* begin() noexcept { return std::launder(reinterpret_cast<T*>(raw_)); }
    [[nodiscard]] T* end() noexcept { return begin() + size_; }
    [[nodiscard]] const T* begin() const noexcept {
        return std::launder(reinterpret_cast<const T*>(raw_));
    }
    [[nodiscard]] const T* end() const noexcept { return begin() + size_; }
    [[nodiscard]] T* data() noexcept { return begin(); }
    [[nodiscard]] const T* data() const noexcept { return begin(); }
    [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return begin()[i]; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] static constexpr std::size_t capacity() noexcept { return N; }

  private:
    void take(InplaceList& other) noexcept {
        std::uninitialized_move_n(other.begin(), other.size_, begin());
        size_ = other.size_;
        other.clear();
    }

    alignas(T) std::byte raw_[N * sizeof(T)];
    std::size_t size_ = 0;
};

}  // namespace wye::registry
