// SPDX-License-Identifier: Apache-2.0
//
// Describes the arguments of a slot for a trace, each by its name: inputs before the call, outputs
// after a success. There is an overload for each type of argument. Pointers to objects are written
// as addresses.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "layers/trace/line.hpp"
#include "wye/abi.h"
#include "wye/abi_layouts.h"
#include "wye/abi_native.h"

namespace wye::layers::trace {

// Returns the names of the arguments of a slot, such as "size,alignment", without the first
// argument, which is the object.
[[nodiscard]] std::string_view argument_names(std::string_view slot) noexcept;

// Returns a name such as "OUT_OF_MEMORY".
[[nodiscard]] std::string_view status_name(wye_status status) noexcept;

// ---- Inputs ----

void in(Fields& out, std::string_view name, std::uint32_t value);
void in(Fields& out, std::string_view name, std::uint64_t value);
void in(Fields& out, std::string_view name, wye_string value);
void in(Fields& out, std::string_view name, wye_bytes value);
void in(Fields& out, std::string_view name, const wye_artifact* value);
void in(Fields& out, std::string_view name, const wye_buffer_desc* value);
void in(Fields& out, std::string_view name, const wye_command_desc* value);
void in(Fields& out, std::string_view name, const wye_error_desc* value);
void in(Fields& out, std::string_view name, const wye_event* value);
void in(Fields& out, std::string_view name, const wye_operation* value);
void in(Fields& out, std::string_view name, const wye_queue_desc* value);
void in(Fields& out, std::string_view name, const wye_submission* value);
void in(Fields& out, std::string_view name, const wye_timeline_desc* value);
inline void in(Fields&, std::string_view, const wye_host_table*) {}
// Describes pointers to objects. Skips pointers to results, which have no value before the call.
template <typename T>
void in(Fields& out, std::string_view name, T* value) {
    constexpr bool kObject =
        std::is_same_v<T, wye_buffer_object> || std::is_same_v<T, wye_program_object> ||
        std::is_same_v<T, wye_queue_object> || std::is_same_v<T, wye_timeline_object> ||
        std::is_same_v<T, wye_command_object>;
    if constexpr (kObject) out.object(name, value);
}

// ---- Outputs ----

void out_of(Fields& out, std::string_view name, const std::uint32_t& value);
void out_of(Fields& out, std::string_view name, const std::uint64_t& value);
void out_of(Fields& out, std::string_view name, const wye_bytes& value);
void out_of(Fields& out, std::string_view name, const wye_string& value);
void out_of(Fields& out, std::string_view name, const wye_command_info& value);
void out_of(Fields& out, std::string_view name, const wye_device_info& value);
void out_of(Fields& out, std::string_view name, const wye_fact& value);
void out_of(Fields& out, std::string_view name, const wye_layout_counts& value);
void out_of(Fields& out, std::string_view name, const wye_mapping& value);
void out_of(Fields& out, std::string_view name, const wye_memory_info& value);
void out_of(Fields& out, std::string_view name, const wye_native_handle& value);
void out_of(Fields& out, std::string_view name, const wye_program_info& value);
void out_of(Fields& out, std::string_view name, const wye_queue_info& value);
void out_of(Fields& out, std::string_view name, const wye_timing& value);
template <typename T>
void out_of(Fields& out, std::string_view name, T* const& value) {
    constexpr bool kTable = std::is_const_v<T>;  // a table is not described
    constexpr bool kError = std::is_same_v<T, wye_error>;
    if constexpr (!kTable && !kError) out.object(name, value);
}

// Describes the output that a call wrote through the pointer `value`. Does nothing if `value` is no
// pointer, or points to a constant or an object.
template <typename T>
void after(Fields& out, std::string_view name, T value) {
    if constexpr (std::is_pointer_v<T>) {
        using To = std::remove_pointer_t<T>;
        if constexpr (!std::is_const_v<To> && requires(To & to) { out_of(out, name, to); }) {
            if (value != nullptr) out_of(out, name, *value);
        }
    }
}

}  // namespace wye::layers::trace
