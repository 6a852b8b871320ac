// SPDX-License-Identifier: Apache-2.0
//
// Reports which plugin slot is being called to the program that probes the plugin, so that it can
// name the slot if the plugin ends the process in it.
#pragma once

#include <string_view>

namespace wye::registry {

// Reported in place of a slot while the loader maps a plugin and runs its constructors.
inline constexpr std::string_view kLoading = "the loading of its library";

// Called on the thread that enters or leaves a slot, with the slot's name; empty when the thread
// has left the outermost slot. Must not throw.
using SlotWatcher = void (*)(std::string_view slot);

// Notes that a call of the library found the floating-point mode changed by a plugin, and restored
// it for its caller. `took_float_change` tells whether one did since the last time it was asked.
void note_float_change() noexcept;
[[nodiscard]] bool took_float_change() noexcept;

// Sets the watcher for the whole process. Call once, before any plugin is opened.
void watch_slots(SlotWatcher watcher) noexcept;

}  // namespace wye::registry
