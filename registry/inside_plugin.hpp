// SPDX-License-Identifier: Apache-2.0
//
// PluginMark: marks its thread as being in a slot of a plugin. If the plugin calls `exit` or
// `quick_exit` there, a handler names it on stderr, and the process ends with a failure status. The
// host installs no signal handlers, so it does not report a crash, `abort`, `_exit` or a hang, nor
// an `exit` on a thread that the plugin made. Made and destroyed on one thread, innermost first.
// Internal to the registry.
#pragma once

#include <string_view>

namespace wye::registry {

// Costs a few instructions, for the slots that every dispatch calls. The handlers are registered by
// the first InsidePlugin: a plugin is opened before it gets a dispatch.
class PluginMark {
  public:
    // Both must outlive this object.
    PluginMark(std::string_view plugin, std::string_view slot) noexcept
        : plugin_(plugin), slot_(slot), outer_(innermost) {
        innermost = this;
    }
    ~PluginMark() { innermost = outer_; }
    PluginMark(const PluginMark&) = delete;
    PluginMark& operator=(const PluginMark&) = delete;

  private:
    friend class InsidePlugin;
    friend struct ExitReport;
    static constinit thread_local const PluginMark* innermost;
    std::string_view plugin_, slot_;
    const PluginMark* outer_;
};

// Also registers the handlers, and tells the slot to the watcher (registry/slot_watch.hpp).
class InsidePlugin {
  public:
    InsidePlugin(std::string_view plugin, std::string_view slot) noexcept;
    ~InsidePlugin();
    InsidePlugin(const InsidePlugin&) = delete;
    InsidePlugin& operator=(const InsidePlugin&) = delete;

  private:
    PluginMark mark_;
};

// Writes to stderr that `how` happened inside a plugin's slot, with a remedy.
void name_plugin(std::string_view plugin, std::string_view slot, const char* how) noexcept;

}  // namespace wye::registry
