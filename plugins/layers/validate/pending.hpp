// SPDX-License-Identifier: Apache-2.0
//
// Finds what is still running, by asking the plugin, and which thread is inside of a command. The
// plugin's mutex must not be held.
#pragma once

#include <span>
#include <string_view>

#include "layers/validate/state.hpp"

namespace wye::layers::validate {

// Whether the value has neither been reached nor failed.
[[nodiscard]] bool is_pending(DeviceNode& node, const wye_event& event);

// Forgets the executions of commands that have ended.
void settle(DeviceNode& node, std::span<wye_command_object* const> commands);

// Marks commands as entered by this thread until the frame ends. If another thread is inside, that
// is a breach of P-15.
void enter(DeviceNode& node, Frame& frame, std::string_view slot,
           std::span<wye_command_object* const> commands);

}  // namespace wye::layers::validate
