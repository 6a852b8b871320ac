// SPDX-License-Identifier: Apache-2.0
//
// What is still running, as the plugin itself says, and which thread is inside of a command. The
// plugin's mutex is not held.
#pragma once

#include <span>
#include <string_view>

#include "layers/validate/state.hpp"

namespace wye::layers::validate {

// Whether the value has neither been reached nor failed.
[[nodiscard]] bool is_pending(DeviceNode& node, const wye_event& event);

// Forgets the executions of commands that have ended.
void settle(DeviceNode& node, std::span<wye_command_object* const> commands);

// Marks commands as entered by this thread until the frame ends; a breach of P-15 if another one is
// inside.
void enter(DeviceNode& node, Frame& frame, std::string_view slot,
           std::span<wye_command_object* const> commands);

}  // namespace wye::layers::validate
