// SPDX-License-Identifier: Apache-2.0
//
// Handle: owns one native object and frees it by `Release(owner, object)`. Refers to the object's
// owner (the driver, the logical device, the context), which must outlive the Handle. Movable; not
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
    // The out-parameter for a driver call that creates the object. The call must leave the
    // out-parameter unchanged on failure. The handle must be empty.
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
