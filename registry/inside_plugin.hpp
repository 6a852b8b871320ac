// SPDX-License-Identifier: Apache-2.0
//
// PluginMark and InsidePlugin: mark the thread as being inside a plugin's slot. If the plugin calls
// `exit` or `quick_exit` there, a handler names the plugin on stderr, and the process ends with a
// failure status. The host installs no signal handlers, so it does not report a crash, `abort`,
// `_exit` or a hang, nor an `exit` on a thread that the plugin made. A mark is made and destroyed
// on one thread; nested marks are destroyed innermost first. Internal to the registry.
#pragma once

#include <string_view>

namespace wye::registry {

// Costs a few instructions, for slots that every dispatch calls. It relies on the exit handlers
// that the first InsidePlugin registers: a plugin is opened before it gets a dispatch.
class PluginMark {
  public:
    // `plugin` and `slot` must outlive this object.
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
    // With this model the variable is read without a call of the loader's function at every slot.
    // The loader keeps room for a few such variables of libraries that are loaded late.
#ifdef __GLIBC__
    [[gnu::tls_model("initial-exec")]]
#endif
    static constinit thread_local const PluginMark* innermost;
    std::string_view plugin_, slot_;
    const PluginMark* outer_;
};

// A PluginMark that also registers the exit handlers and informs the slot watcher
// (registry/slot_watch.hpp).
class InsidePlugin {
  public:
    InsidePlugin(std::string_view plugin, std::string_view slot) noexcept;
    ~InsidePlugin();
    InsidePlugin(const InsidePlugin&) = delete;
    InsidePlugin& operator=(const InsidePlugin&) = delete;

  private:
    PluginMark mark_;
};

// Writes to stderr that `how` happened inside a plugin's slot, and a remedy.
void name_plugin(std::string_view plugin, std::string_view slot, const char* how) noexcept;

}  // namespace wye::registry
