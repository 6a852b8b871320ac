// SPDX-License-Identifier: Apache-2.0
//
// InsidePlugin: a PluginMark for slots that are not called in every dispatch. Internal to the
// registry.
#pragma once

#include <string_view>

#include "registry/open/plugin_call.hpp"

namespace wye::registry {

inline constexpr const char* kPluginAuthor = "Fix: report this to the plugin's author";

// A PluginMark that also registers the exit handlers and informs the slot watcher
// (registry/open/slot_watch.hpp).
class InsidePlugin {
  public:
    InsidePlugin(std::string_view plugin, std::string_view slot) noexcept;
    ~InsidePlugin();
    InsidePlugin(const InsidePlugin&) = delete;
    InsidePlugin& operator=(const InsidePlugin&) = delete;

  private:
    const PluginSlot at_;
    PluginMark mark_;
};

}  // namespace wye::registry
