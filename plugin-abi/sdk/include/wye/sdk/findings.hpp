// SPDX-License-Identifier: Apache-2.0
//
// The findings of a plugin's probe, which ran in a separate process. The host passes them to the
// plugin in the configuration. A plugin makes a test that could harm the process only while
// the plugin is probed; otherwise it reads the result here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wye/sdk/plugin.hpp"

namespace wye::sdk {

// Whether the flag `fact`, such as "ieee_f32", holds for device `index`, as the probe found.
// Nothing: this process is a probe, or the host opened the plugin without a probe.
[[nodiscard]] inline std::optional<bool> found_by_probe(const wye_host_table& host,
                                                        std::uint32_t index,
                                                        std::string_view fact) {
    if (!config(host, "probed")) return std::nullopt;
    // The names of the facts that were found, each followed by a blank.
    const std::string names = " " + config(host, "probed." + std::to_string(index)).value_or("");
    return names.find(" " + std::string(fact) + " ") != std::string::npos;
}

}  // namespace wye::sdk
