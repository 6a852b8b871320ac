// SPDX-License-Identifier: Apache-2.0
//
// Reads the environment of the process into a value.
#include <sys/auxv.h>
#include <unistd.h>

#include "registry/find/search.hpp"

namespace wye::registry {

Environment environment_snapshot() {
    Environment out;
    for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
        const std::string_view entry(*at);
        const std::size_t equals = entry.find('=');
        if (equals == entry.npos) continue;
        out.emplace(entry.substr(0, equals), entry.substr(equals + 1));
    }
    return out;
}

bool process_is_elevated() noexcept { return ::getauxval(AT_SECURE) != 0; }

std::filesystem::path user_plugin_folder(const Environment& environment) {
    const auto absolute = [&](const char* name) -> std::filesystem::path {
        const auto at = environment.find(name);
        if (at == environment.end() || !std::filesystem::path(at->second).is_absolute()) return {};
        return at->second;
    };
    if (const std::filesystem::path data = absolute("XDG_DATA_HOME"); !data.empty())
        return data / "wye" / "plugins";
    if (const std::filesystem::path home = absolute("HOME"); !home.empty())
        return home / ".local" / "share" / "wye" / "plugins";
    return {};
}

}  // namespace wye::registry
