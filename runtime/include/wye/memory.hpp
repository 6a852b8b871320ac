// SPDX-License-Identifier: Apache-2.0
//
// wye::RegisteredMemory: memory of the application that a device reads and writes directly.
#pragma once

#include <span>
#include <utility>

#include "wye/buffer.h"
#include "wye/wye.hpp"

namespace wye {

// Registers memory with a device for its lifetime: see wye_memory_register for the effect, the
// alignment and errors. The memory stays the caller's and must outlive this object. Move-only; any
// thread.
class RegisteredMemory {
  public:
    // The elements must not be const: the device may write them.
    template <BorrowedValues R>
    [[nodiscard]] static Result<RegisteredMemory> add(const Device& device, R&& values) {
        const auto bytes = std::as_writable_bytes(std::span(values));
        wye_memory out = 0;
        WYE_TRY(detail::call([&](wye_error** e) {
            return wye_memory_register(device.context(), device.get(), bytes.data(), bytes.size(),
                                       &out, e);
        }));
        return RegisteredMemory(device, out);
    }
    // Afterwards, `other` registers nothing.
    RegisteredMemory(RegisteredMemory&& other) noexcept
        : device_(other.device_), memory_(std::exchange(other.memory_, 0)) {}
    // Exchanges the registrations of both objects.
    RegisteredMemory& operator=(RegisteredMemory&& other) noexcept {
        std::swap(device_, other.device_);
        std::swap(memory_, other.memory_);
        return *this;
    }
    // Waits for the device if work in flight still uses the memory.
    ~RegisteredMemory() {
        if (memory_ == 0) return;
        while (wye_memory_unregister(device_.context(), memory_, nullptr) == WYE_BUFFER_IN_USE)
            (void)wye_device_flush(device_.context(), device_.get(), nullptr);
    }

    // The handle of the C API.
    [[nodiscard]] wye_memory get() const noexcept { return memory_; }
    // Unregisters now, or returns the reason (BUFFER_IN_USE).
    [[nodiscard]] Result<void> remove() {
        WYE_TRY(detail::call(
            [&](wye_error** e) { return wye_memory_unregister(device_.context(), memory_, e); }));
        memory_ = 0;
        return {};
    }

  private:
    RegisteredMemory(Device device, wye_memory memory)
        : device_(std::move(device)), memory_(memory) {}

    Device device_;
    wye_memory memory_;
};

}  // namespace wye
