// SPDX-License-Identifier: Apache-2.0
#include "inside_plugin.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace wye::registry {

thread_local const InsidePlugin* InsidePlugin::innermost = nullptr;

void name_plugin(std::string_view plugin, std::string_view slot, const char* how) noexcept {
    char text[512];
    const int size = std::snprintf(
        text, sizeof text,
        "wye: %s inside the slot `%.*s` of the plugin `%.*s`. Fix: report this to the plugin's "
        "author; name another device, such as `cpu`, to do without the plugin\n",
        how, static_cast<int>(std::min<std::size_t>(slot.size(), 64)), slot.data(),
        static_cast<int>(std::min<std::size_t>(plugin.size(), 64)), plugin.data());
    if (size > 0)
        (void)!::write(STDERR_FILENO, text,
                       std::min<std::size_t>(static_cast<std::size_t>(size), sizeof text - 1));
}

// An exit handler; runs on the thread that called `exit`.
struct ExitReport {
    ~ExitReport() {
        if (const InsidePlugin* at = InsidePlugin::innermost)
            name_plugin(at->plugin_, at->slot_, "the process was ended (exit)");
    }
};

InsidePlugin::InsidePlugin(std::string_view plugin, std::string_view slot) noexcept
    : plugin_(plugin), slot_(slot), outer_(innermost) {
    static const ExitReport report;
    innermost = this;
}

}  // namespace wye::registry
