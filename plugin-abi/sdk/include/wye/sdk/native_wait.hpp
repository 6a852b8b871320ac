// SPDX-License-Identifier: Apache-2.0
//
// The event of the driver's API that a submission waits for (WYE_CHAIN_NATIVE_WAIT in
// abi_native.h). A queue can wait for such an event if its class has `static constexpr bool
// kWaitsNative = true` and, as a step of a submit (queue.hpp), `Result<void> wait_native(const
// wye_native_handle&)`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "wye/abi_native.h"
#include "wye/sdk/plugin.hpp"

namespace wye::sdk {

template <typename Queue>
[[nodiscard]] consteval bool waits_native() {
    if constexpr (requires { Queue::kWaitsNative; })
        return Queue::kWaitsNative;
    else
        return false;
}

// The native wait in a submission's chain; null: none.
[[nodiscard]] inline const wye_native_wait* native_wait(const wye_header& header) noexcept {
    for (const void* next = header.next; next != nullptr;
         next = static_cast<const wye_header*>(next)->next)
        if (static_cast<const wye_header*>(next)->type ==
            (WYE_CHAIN_NATIVE_WAIT | WYE_CHAIN_CRITICAL))
            return static_cast<const wye_native_wait*>(next);
    return nullptr;
}

// The value of type `type` in the handle of an event. INVALID_ARGUMENT: there is no such value, or
// the value is 0. `device`: the device's name, for the error.
[[nodiscard]] Result<std::uint64_t> native_event(const wye_native_handle& event,
                                                 std::string_view type, const std::string& device);
// Like `native_event`, converted to T, a pointer or a handle type of the driver.
template <typename T>
[[nodiscard]] Result<T> native_event_as(const wye_native_handle& event, std::string_view type,
                                        const std::string& device) {
    WYE_ASSIGN(const std::uint64_t value, native_event(event, type, device));
    if constexpr (std::is_pointer_v<T>)
        return reinterpret_cast<T>(static_cast<std::uintptr_t>(value));
    else
        return static_cast<T>(value);
}
// The value of type `type` in a native handle, which may be 0. Null: there is no such value.
[[nodiscard]] const wye_native_value* find_value(const wye_native_handle& handle,
                                                 std::string_view type) noexcept;
// Make the errors for an event of another device or context, and for an event that cannot be waited
// for. `why`: "the driver does not know it".
[[nodiscard]] Error event_of_other(std::string_view type, const std::string& device);
[[nodiscard]] Error event_unfit(std::string_view type, const std::string& device,
                                std::string_view why, std::string_view fix);

}  // namespace wye::sdk
