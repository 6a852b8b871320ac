// SPDX-License-Identifier: Apache-2.0
//
// InsidePlugin: marks its thread as being in a slot of a plugin. If the plugin calls `exit` or
// `quick_exit` there, a handler names it on stderr, and the process ends with a failure status. The
// host installs no signal handlers, so it does not report a crash, `abort`, `_exit` or a hang. Made
// and destroyed on one thread, innermost first. Internal to the registry.
#pragma once

#include <string_view>

namespace wye::registry {

class InsidePlugin {
  public:
    // Both must outlive this object.
    InsidePlugin(std::string_view plugin, std::string_view slot) noexcept;
    ~InsidePlugin();
    InsidePlugin(const InsidePlugin&) = delete;
    InsidePlugin& operator=(const InsidePlugin&) = delete;

  private:
    friend struct ExitReport;
    static thread_local const InsidePlugin* innermost;
    std::string_view plugin_, slot_;
    const InsidePlugin* outer_;
};

// Writes to stderr that `how` happened inside a plugin's slot, with a remedy.
void name_plugin(std::string_view plugin, std::string_view slot, const char* how) noexcept;

}  // namespace wye::registry
