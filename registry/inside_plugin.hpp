// SPDX-License-Identifier: Apache-2.0
//
// InsidePlugin: says, while it exists, that its thread is in a slot of a plugin. A plugin that ends
// the process with `exit` from there is named on stderr, by what runs at the end of the process.
// The host installs no signal handlers, so a crash, `abort`, `_exit` or a hang stays without a
// name. Made and destroyed on one thread, innermost first. Internal to the registry.
#pragma once

#include <string_view>

namespace wye::registry {

class InsidePlugin {
  public:
    // Both outlive this.
    InsidePlugin(std::string_view plugin, std::string_view slot) noexcept;
    ~InsidePlugin() { innermost = outer_; }
    InsidePlugin(const InsidePlugin&) = delete;
    InsidePlugin& operator=(const InsidePlugin&) = delete;

  private:
    friend struct ExitReport;
    static thread_local const InsidePlugin* innermost;
    std::string_view plugin_, slot_;
    const InsidePlugin* outer_;
};

// Says on stderr that `how` was used inside a plugin's slot, and what to do about it.
void name_plugin(std::string_view plugin, std::string_view slot, const char* how) noexcept;

}  // namespace wye::registry
