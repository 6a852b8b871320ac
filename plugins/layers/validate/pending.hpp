// SPDX-License-Identifier: Apache-2.0
//
// Asks the plugin which work is still pending, checks the order in which work ended, and records
// which thread is inside a command. The caller must not hold the plugin's mutexes.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "layers/validate/state.hpp"

namespace wye::layers::validate {

// The plugin's answer for a value; nullopt: the timeline was destroyed, or its device recovered.
[[nodiscard]] std::optional<wye_status> ask(DeviceNode& node, const wye_event& event);

// Whether the value has neither been reached nor failed.
[[nodiscard]] bool is_pending(DeviceNode& node, const wye_event& event);

// Called before `slot` destroys a timeline. Records in each submit that waits for the timeline
// whether the awaited value was reached, then removes the timeline from the record.
void end_timeline(DeviceNode& node, std::string_view slot, wye_timeline_object* timeline);

// Checks a submit that has ended: its marks, and that the submit before it and the values that it
// waited for had ended. `status`: the plugin's report for the submit's value.
void check_end(DeviceNode& node, std::string_view slot, const wye_event& event, wye_status status);

// Checks whether a submit hangs. Called after a wait for its value has timed out and has taken
// longer than the layer's limit.
void check_hang(DeviceNode& node, const wye_event& event);

// Removes the ended executions of the commands from the record.
void settle(DeviceNode& node, std::span<wye_command_object* const> commands);

// Marks commands as entered by this thread until the frame ends. If another thread is inside a
// command, adds a breach of P-15.
void enter(DeviceNode& node, Frame& frame, std::string_view slot,
           std::span<wye_command_object* const> commands);

}  // namespace wye::layers::validate
