// SPDX-License-Identifier: Apache-2.0
//
// Fifo: a first-in, first-out queue that keeps its memory: once it has grown, adding and removing
// do not allocate. Not synchronised.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace wye::sdk {

template <typename T>
class Fifo {
  public:
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }
    // Index 0 is the oldest.
    [[nodiscard]] T& operator[](std::size_t at) { return places_[place(at)]; }
    [[nodiscard]] const T& operator[](std::size_t at) const { return places_[place(at)]; }
    [[nodiscard]] T& front() { return places_[first_]; }

    // Whether the next push allocates nothing.
    [[nodiscard]] bool has_room() const { return size_ < capacity_; }
    // Makes sure that the next push allocates nothing.
    void make_room() {
        if (!has_room()) grow();
    }
    void push(T value) {
        make_room();
        places_[place(size_)] = std::move(value);
        ++size_;
    }
    // Adds a default-constructed value, and returns it.
    [[nodiscard]] T& push_new() {
        make_room();
        return push_next();
    }
    // Like `push_new`, for a caller that has called `make_room`.
    [[nodiscard]] T& push_next() { return places_[place(size_++)]; }
    [[nodiscard]] T pop() {
        T out = std::exchange(places_[first_], T());
        drop();
        return out;
    }
    // Removes the oldest value, which the caller has already made equal to a new T.
    void drop() {
        first_ = place(1);
        --size_;
    }
    // The value that `push_next` will return, for a caller that has called `make_room`. Removing
    // values does not move it.
    [[nodiscard]] T& next() { return places_[place(size_)]; }
    void clear() {
        while (!empty()) (void)pop();
    }

  private:
    static constexpr std::size_t kFirstPlaces = 16;

    [[nodiscard]] std::size_t place(std::size_t at) const {
        return (first_ + at) & (capacity_ - 1);
    }
    [[gnu::cold, gnu::noinline]] void grow() {
        const std::size_t capacity = capacity_ == 0 ? kFirstPlaces : capacity_ * 2;
        auto larger = std::make_unique<T[]>(capacity);
        for (std::size_t at = 0; at < size_; ++at) larger[at] = std::move((*this)[at]);
        places_ = std::move(larger);
        capacity_ = capacity;
        first_ = 0;
    }

    std::unique_ptr<T[]> places_;
    std::size_t capacity_ = 0;  // of places_: a power of two, or 0
    std::size_t first_ = 0, size_ = 0;
};

}  // namespace wye::sdk
