// SPDX-License-Identifier: Apache-2.0
//
// Finds what is still running, by asking the plugin, whether it ended in the right order, and which
// thread is inside of a command. The plugin's mutexes must not be held.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "layers/validate/state.hpp"

namespace wye::layers::validate {

// The plugin's answer for a value; nothing if its timeline was destroyed meanwhile.
[[nodiscard]] std::optional<wye_status> ask(DeviceNode& node, const wye_event& event);

// Whether the value has neither been reached nor failed.
[[nodiscard]] bool is_pending(DeviceNode& node, const wye_event& event);

// Called before `slot` destroys a timeline. Records in each submit that waits for the timeline
// whether the awaited value was reached, then removes the timeline from the record.
void end_timeline(DeviceNode& node, std::string_view slot, wye_timeline_object* timeline);

// Compares the end of a submit with that of the one before it and of what it waited for. `status`
// is what the plugin reported for the value.
void check_end(DeviceNode& node, std::string_view slot, const wye_event& event, wye_status status);

// Checks a wait for a value that lasted longer than the layer's limit and timed out.
void check_hang(DeviceNode& node, const wye_event& event);

// Forgets the executions of commands that have ended.
void settle(DeviceNode& node, std::span<wye_command_object* const> commands);

// Marks commands as entered by this thread until the frame ends. If another thread is inside, that
// is a breach of P-15.
void enter(DeviceNode& node, Frame& frame, std::string_view slot,
           std::span<wye_command_object* const> commands);

}  // namespace wye::layers::validate
