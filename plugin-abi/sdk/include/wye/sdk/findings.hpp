// SPDX-License-Identifier: Apache-2.0
//
// What a plugin's probe, in a process of its own, found: the host hands it to the plugin in its
// configuration. Plugins try in a probe what could harm a process, and take the answer from here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wye/sdk/plugin.hpp"

namespace wye::sdk {

// Whether the probe found that device `index` has a fact that is a flag, such as "ieee_f32".
// Nothing: this process is a probe, or the host opened the plugin without one.
[[nodiscard]] inline std::optional<bool> found_by_probe(const wye_host_table& host,
                                                        std::uint32_t index,
                                                        std::string_view fact) {
    if (!config(host, "probed")) return std::nullopt;
    // Names, each with a blank behind it.
    const std::string names = " " + config(host, "probed." + std::to_string(index)).value_or("");
    return names.find(" " + std::string(fact) + " ") != std::string::npos;
}

}  // namespace wye::sdk
