// SPDX-License-Identifier: Apache-2.0
//
// The checks before and after the call of each slot. `before` compares the arguments with the
// host's obligations. If it returns an error, its caller adds the breach, and the call does not
// reach the plugin. For a breach after which the call may continue, `before` adds the breach
// itself, and returns no error. `after` compares the results with the plugin's obligations, and
// keeps the record of objects. `after` runs after every call that returned. Slots without an
// overload have no checks of their own.
#pragma once

#include "layers/validate/state.hpp"
#include "wye/sdk/layer_slots.hpp"

namespace wye::layers::validate {

namespace slot = sdk::layer::slot;

template <typename Slot, typename Node, typename... Args>
[[nodiscard]] Result<void> before(Slot, Node&, Frame&, Args...) {
    return {};
}
template <typename Slot, typename Node, typename Status, typename... Args>
void after(Slot, Node&, Frame&, Status, Args...) {}

// ---- Plugin ----

Result<void> before(slot::plugin::device_info, PluginNode& node, Frame&, std::uint32_t index,
                    wye_device_info*, wye_error**);
Result<void> before(slot::plugin::open_device, PluginNode& node, Frame&, const wye_open_desc* desc,
                    wye_device_object**, const wye_device_table**, wye_error**);
Result<void> before(slot::plugin::translate, PluginNode& node, Frame&, std::uint32_t index,
                    const wye_artifact*, wye_string, wye_bytes*, wye_error**);
Result<void> before(slot::plugin::shutdown, PluginNode& node, Frame&);
void after(slot::plugin::probe_devices, PluginNode& node, Frame& frame, wye_status status,
           std::uint32_t* count, wye_error**);
void after(slot::plugin::device_info, PluginNode& node, Frame&, wye_status status,
           std::uint32_t index, wye_device_info* out, wye_error**);
void after(slot::plugin::device_fact, PluginNode& node, Frame&, wye_status status,
           std::uint32_t index, std::uint32_t key, wye_fact* out);
void after(slot::plugin::open_device, PluginNode& node, Frame&, wye_status status,
           const wye_open_desc*, wye_device_object** out, const wye_device_table**, wye_error**);

// ---- Device: objects ----

Result<void> before(slot::device::buffer_create, DeviceNode& node, Frame&,
                    const wye_buffer_desc* desc, wye_buffer_object**, wye_error**);
void after(slot::device::buffer_create, DeviceNode& node, Frame&, wye_status status,
           const wye_buffer_desc* desc, wye_buffer_object** out, wye_error**);
Result<void> before(slot::device::buffer_destroy, DeviceNode& node, Frame&,
                    wye_buffer_object* buffer);
Result<void> before(slot::device::buffer_map, DeviceNode& node, Frame&, wye_buffer_object* buffer,
                    wye_mapping*, wye_error**);
void after(slot::device::buffer_map, DeviceNode& node, Frame&, wye_status status,
           wye_buffer_object* buffer, wye_mapping* out, wye_error**);
Result<void> before(slot::device::buffer_sync, DeviceNode& node, Frame&, wye_buffer_object* buffer,
                    std::uint64_t offset, std::uint64_t size, std::uint32_t direction, wye_error**);
Result<void> before(slot::device::program_create, DeviceNode& node, Frame&,
                    const wye_artifact* artifact, wye_program_object**, wye_error**);
void after(slot::device::program_create, DeviceNode& node, Frame&, wye_status status,
           const wye_artifact* artifact, wye_program_object** out, wye_error**);
Result<void> before(slot::device::program_load, DeviceNode& node, Frame&,
                    const wye_artifact* artifact, wye_bytes, wye_program_object**, wye_error**);
void after(slot::device::program_load, DeviceNode& node, Frame&, wye_status status,
           const wye_artifact* artifact, wye_bytes, wye_program_object** out, wye_error**);
Result<void> before(slot::device::program_destroy, DeviceNode& node, Frame&,
                    wye_program_object* program);
Result<void> before(slot::device::program_info, DeviceNode& node, Frame&,
                    wye_program_object* program, wye_program_info*, wye_error**);
Result<void> before(slot::device::program_save, DeviceNode& node, Frame&,
                    wye_program_object* program, wye_bytes*, wye_error**);
void after(slot::device::program_save, DeviceNode& node, Frame&, wye_status status,
           wye_program_object*, wye_bytes* out, wye_error**);
Result<void> before(slot::device::command_create, DeviceNode& node, Frame&,
                    const wye_command_desc* desc, wye_command_object**, wye_error**);
void after(slot::device::command_create, DeviceNode& node, Frame&, wye_status status,
           const wye_command_desc* desc, wye_command_object** out, wye_error**);
Result<void> before(slot::device::command_destroy, DeviceNode& node, Frame&,
                    wye_command_object* command);
Result<void> before(slot::device::command_info, DeviceNode& node, Frame&,
                    wye_command_object* command, wye_command_info*, wye_error**);
void after(slot::device::command_info, DeviceNode& node, Frame&, wye_status status,
           wye_command_object* command, wye_command_info* out, wye_error**);
Result<void> before(slot::device::command_update, DeviceNode& node, Frame& frame,
                    wye_command_object* command, std::uint64_t index,
                    const wye_operation* operation, wye_error**);
void after(slot::device::command_update, DeviceNode& node, Frame&, wye_status status,
           wye_command_object* command, std::uint64_t, const wye_operation* operation, wye_error**);

// ---- Device: timelines, and the rest ----

Result<void> before(slot::device::query, DeviceNode& node, Frame& frame, const wye_event* event,
                    wye_error**);
void after(slot::device::query, DeviceNode& node, Frame& frame, wye_status status,
           const wye_event* event, wye_error** error);
Result<void> before(slot::device::wait, DeviceNode& node, Frame& frame, const wye_event* events,
                    std::uint64_t count, std::uint32_t any, std::uint64_t timeout_ns,
                    std::uint64_t*, wye_error**);
void after(slot::device::wait, DeviceNode& node, Frame& frame, wye_status status,
           const wye_event* events, std::uint64_t count, std::uint32_t any,
           std::uint64_t timeout_ns, std::uint64_t* index, wye_error**);
Result<void> before(slot::device::retire, DeviceNode& node, Frame&, const wye_event* event,
                    wye_error**);
void after(slot::device::timeline_create, DeviceNode& node, Frame&, wye_status status,
           const wye_timeline_desc*, wye_timeline_object** out, wye_error**);
Result<void> before(slot::device::timeline_destroy, DeviceNode& node, Frame&,
                    wye_timeline_object* timeline);
Result<void> before(slot::device::timeline_signal, DeviceNode& node, Frame&, const wye_event* event,
                    wye_error**);
void after(slot::device::timeline_signal, DeviceNode& node, Frame&, wye_status status,
           const wye_event* event, wye_error**);
Result<void> before(slot::device::timeline_fail, DeviceNode& node, Frame&, const wye_event* event,
                    const wye_error_desc* failure, wye_error**);
void after(slot::device::timeline_fail, DeviceNode& node, Frame&, wye_status status,
           const wye_event* event, const wye_error_desc*, wye_error**);
void after(slot::device::memory_info, DeviceNode& node, Frame&, wye_status status,
           wye_memory_info* out, wye_error**);
void after(slot::device::try_recover, DeviceNode& node, Frame&, wye_status status, wye_error**);
Result<void> before(slot::device::close, DeviceNode& node, Frame&);

// ---- Queue ----

void after(slot::device::queue_create, DeviceNode& node, Frame&, wye_status status,
           const wye_queue_desc*, wye_queue_object** out, wye_timeline_object** timeline,
           const wye_queue_table**, wye_error**);
Result<void> before(slot::queue::submit, QueueNode& node, Frame& frame,
                    const wye_submission* submission, wye_error**);
void after(slot::queue::submit, QueueNode& node, Frame& frame, wye_status status,
           const wye_submission* submission, wye_error**);
Result<void> before(slot::queue::timing, QueueNode& node, Frame&, std::uint64_t value, wye_timing*,
                    wye_error**);
void after(slot::queue::timing, QueueNode& node, Frame&, wye_status status, std::uint64_t value,
           wye_timing* out, wye_error**);
Result<void> before(slot::queue::cancel, QueueNode& node, Frame&, std::uint64_t first,
                    std::uint64_t last, wye_error**);
void after(slot::queue::info, QueueNode& node, Frame&, wye_status status, wye_queue_info* out,
           wye_error**);
Result<void> before(slot::queue::destroy, QueueNode& node, Frame&);

// ---- Native handles ----

Result<void> before(slot::native::buffer, DeviceNode& node, Frame&, wye_buffer_object* buffer,
                    wye_native_handle*, wye_error**);
void after(slot::native::buffer, DeviceNode& node, Frame&, wye_status status,
           wye_buffer_object* buffer, wye_native_handle* out, wye_error**);
void after(slot::native::queue, DeviceNode& node, Frame&, wye_status status,
           wye_queue_object* queue, wye_native_handle* out, wye_error**);
void after(slot::native::device, DeviceNode& node, Frame&, wye_status status,
           wye_native_handle* out, wye_error**);

}  // namespace wye::layers::validate
