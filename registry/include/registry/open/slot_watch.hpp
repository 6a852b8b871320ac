// SPDX-License-Identifier: Apache-2.0
//
// Tells the program that probes a plugin which slot of the plugin is being called, so that the
// program can name the slot in which the plugin ended the process.
#pragma once

#include <string_view>

namespace wye::registry {

// Reported in place of a slot while the loader maps a plugin and runs its constructors.
inline constexpr std::string_view kLoading = "the loading of its library";

// Called on the thread that enters or leaves a slot, with the slot's name; empty when the thread
// has left the outermost slot. Must not throw.
using SlotWatcher = void (*)(std::string_view slot);

// Notes that a plugin had changed the floating-point mode in a call of the library, which then
// restored the mode. `took_float_change` tells whether that happened after the previous call of
// `took_float_change`.
void note_float_change() noexcept;
[[nodiscard]] bool took_float_change() noexcept;

// Sets the watcher for the whole process. Call once, before any plugin is opened.
void watch_slots(SlotWatcher watcher) noexcept;

}  // namespace wye::registry
