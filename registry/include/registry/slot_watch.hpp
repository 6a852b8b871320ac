// SPDX-License-Identifier: Apache-2.0
//
// Tells a program that probes a plugin which slot is being called, so that it can be named if the
// plugin ends the process there.
#pragma once

#include <string_view>

namespace wye::registry {

// What stands for the slot while the loader maps a plugin and runs its constructors.
inline constexpr std::string_view kLoading = "the loading of its library";

// Called on the thread that enters or leaves a slot, with its name, or empty when it left the
// outermost. Must not throw.
using SlotWatcher = void (*)(std::string_view slot);

// For the whole process, once, before any plugin is opened.
void watch_slots(SlotWatcher watcher) noexcept;

}  // namespace wye::registry
