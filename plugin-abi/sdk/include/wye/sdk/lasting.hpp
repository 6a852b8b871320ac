// SPDX-License-Identifier: Apache-2.0
//
// Lasting: the value of a static that is never destroyed. Exit handlers, and destructors of static
// and thread-local objects of the application, may call the library after the library's own statics
// would have been destroyed.
//
//     static const sdk::Lasting<std::vector<int>> list(make_list);
//     return *list;
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace wye::sdk {

template <typename T>
class Lasting {
  public:
    template <typename Make>
    explicit Lasting(Make&& make) : value_(new (room_) T(std::forward<Make>(make)())) {}
    Lasting(const Lasting&) = delete;
    Lasting& operator=(const Lasting&) = delete;

    [[nodiscard]] T& operator*() const noexcept { return *value_; }

  private:
    alignas(T) std::byte room_[sizeof(T)];
    T* const value_;
};

}  // namespace wye::sdk
