// SPDX-License-Identifier: Apache-2.0
//
// The configuration keys that the library itself reads: the list of the keys, and the session
// options that the keys set. Keys that begin with a plugin's id and a dot belong to that plugin.
// Pure.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "exec/device/session.hpp"
#include "registry/open/host_services.hpp"
#include "registry/probe/probe.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

struct Setting {
    std::string_view key;
    std::string_view meaning;  // the text of CONFIGURATION.md; a test compares the two
};
[[nodiscard]] std::span<const Setting> settings() noexcept;

// Reads the keys into session options. INVALID_ARGUMENT for an invalid value, and for an unknown
// key that does not look like a plugin's key.
[[nodiscard]] Result<SessionOptions> read_settings(const registry::Config& config);

// Applies the keys "probe.*" to `out`. INVALID_ARGUMENT for an invalid value.
[[nodiscard]] Result<void> read_probe(const registry::Config& config, registry::ProbeOptions& out);

// The keys that belong neither to the library nor to a plugin in `plugins`.
[[nodiscard]] std::vector<std::string_view> keys_of_nobody(const registry::Config& config,
                                                           std::span<const std::string> plugins);

}  // namespace wye::exec
