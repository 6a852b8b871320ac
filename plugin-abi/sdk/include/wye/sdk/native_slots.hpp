// SPDX-License-Identifier: Apache-2.0
//
// NativeSlots: implements the extension `wye.native_handle` for a device whose class, and the
// classes of its buffers and queues, have `Result<void> native(NativeValues&) const`. Threads as in
// abi_native.h. A device that adopts native memory also has `Result<std::unique_ptr<Buffer>>
// Buffer::adopt(Device&, const wye_buffer_desc&)`; this file has helpers for `adopt`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "wye/abi_native.h"
#include "wye/sdk/plugin.hpp"
#include "wye/sdk/queue_slots.hpp"

namespace wye::sdk {

// Collects the values of one object, the object's own handle first.
class NativeValues {
  public:
    explicit NativeValues(wye_native_handle& out) : out_(out) {
        out_.count = 0;
        out_.reserved = 0;
    }
    // Adds a handle or a number. `type` is a static string. At most WYE_NATIVE_VALUES can be added.
    template <typename T>
    void add(std::string_view type, T value) {
        wye_native_value& to = out_.values[out_.count++];
        to.type = to_abi(type);
        if constexpr (std::is_pointer_v<T>)
            to.value = reinterpret_cast<std::uintptr_t>(value);
        else
            to.value = static_cast<std::uint64_t>(value);
    }

  private:
    wye_native_handle& out_;
};

// The native memory of which a buffer is to be made, from the buffer's description; null: none.
[[nodiscard]] inline const wye_native_memory* native_memory(const wye_header& header) noexcept {
    for (const void* next = header.next; next != nullptr;
         next = static_cast<const wye_header*>(next)->next)
        if (static_cast<const wye_header*>(next)->type ==
            (WYE_CHAIN_NATIVE_MEMORY | WYE_CHAIN_CRITICAL))
            return static_cast<const wye_native_memory*>(next);
    return nullptr;
}

// The value of type `type` in the native handle that a buffer's description gives as its memory.
// INVALID_ARGUMENT: there is no such value, or the value is 0. `device`: the device's name, for the
// error.
[[nodiscard]] Result<std::uint64_t> native_value(const wye_buffer_desc& desc, std::string_view type,
                                                 const std::string& device);
// Like `native_value`, converted to T, a pointer or a handle type of the driver.
template <typename T>
[[nodiscard]] Result<T> native_value_as(const wye_buffer_desc& desc, std::string_view type,
                                        const std::string& device) {
    WYE_ASSIGN(const std::uint64_t value, native_value(desc, type, device));
    if constexpr (std::is_pointer_v<T>)
        return reinterpret_cast<T>(static_cast<std::uintptr_t>(value));
    else
        return static_cast<T>(value);
}
// Makes the error for native memory of another device or context. `type`: the type of the native
// value.
[[nodiscard]] Error native_of_other(const wye_buffer_desc& desc, std::string_view type,
                                    const std::string& device);
// Makes the error for native memory that programs and transfers cannot use. `why`: "it is read
// only".
[[nodiscard]] Error native_unfit(const wye_buffer_desc& desc, std::string_view type,
                                 std::string_view why, std::string_view fix);
// Checks the size and the address of native memory. `address` 0: the memory has no address.
[[nodiscard]] Result<void> check_native(const wye_buffer_desc& desc, std::uint64_t size,
                                        std::uint64_t address = 0);

template <typename Device>
struct NativeSlots {
    // Calls the object's `native`. The object belongs to an opened device.
    template <typename Object>
    static wye_status describe(wye_device_object* device, const void* object,
                               wye_native_handle* out, wye_error** error) {
        return run_unless_lost(*reinterpret_cast<Device*>(device), error, [&]() -> Result<void> {
            NativeValues values(*out);
            return static_cast<const Object*>(object)->native(values);
        });
    }
    static wye_status device(wye_device_object* device, wye_native_handle* out, wye_error** error) {
        return describe<Device>(device, device, out, error);
    }
    static wye_status queue(wye_device_object* device, wye_queue_object* queue,
                            wye_native_handle* out, wye_error** error) {
        return describe<typename Device::Queue>(device, queue, out, error);
    }
    static wye_status buffer(wye_device_object* device, wye_buffer_object* buffer,
                             wye_native_handle* out, wye_error** error) {
        return describe<typename Device::Buffer>(device, buffer, out, error);
    }

    static constexpr wye_native_table kTable = {
        {sizeof(wye_native_table), 0, nullptr}, device, queue, buffer};

    // Returns the extension's table; null for other names and versions.
    static const void* find(std::string_view name, std::uint32_t version) {
        return name == WYE_EXTENSION_NATIVE_HANDLE && version == 1 ? &kTable : nullptr;
    }
};

}  // namespace wye::sdk
