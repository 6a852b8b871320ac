// SPDX-License-Identifier: Apache-2.0
//
// Owner of one native object: gives it back by `Release(owner, object)` when it ends. Refers to its
// owner (the driver, the logical device, the context), which lives longer. Movable; not
// synchronised.
#pragma once

#include <utility>

namespace wye::sdk {

template <typename Owner, typename Object, auto Release>
class Handle {
  public:
    Handle() = default;
    Handle(Owner& owner, Object object) : owner_(&owner), object_(object) {}
    Handle(Handle&& other) noexcept
        : owner_(other.owner_), object_(std::exchange(other.object_, Object{})) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(owner_, other.owner_);
        std::swap(object_, other.object_);
        return *this;
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() {
        if (object_ != Object{}) Release(*owner_, object_);
    }

    [[nodiscard]] Object get() const { return object_; }
    // Where a call of the driver writes the object, which it leaves alone when it fails. The handle
    // is empty.
    [[nodiscard]] Object* receive(Owner& owner) {
        owner_ = &owner;
        return &object_;
    }
    explicit operator bool() const { return object_ != Object{}; }

  private:
    Owner* owner_ = nullptr;
    Object object_{};
};

}  // namespace wye::sdk
