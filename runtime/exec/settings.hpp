// SPDX-License-Identifier: Apache-2.0
//
// The keys of a context's configuration that the library itself reads: one list, and what sessions
// are made with. Keys of plugins begin with their id and a dot, and are theirs. Pure.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "exec/device/session.hpp"
#include "registry/host_services.hpp"
#include "registry/probe.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

struct Setting {
    std::string_view key;
    std::string_view meaning;  // as in runtime/README.md, which a test compares
};
[[nodiscard]] std::span<const Setting> settings() noexcept;

// INVALID_ARGUMENT for a value that is none of its key, and for a key that only the library could
// read and does not know.
[[nodiscard]] Result<SessionOptions> read_settings(const registry::Config& config);

// Changes what the keys "probe.*" name. INVALID_ARGUMENT for a value that is none.
[[nodiscard]] Result<void> read_probe(const registry::Config& config, registry::ProbeOptions& out);

// The keys that belong to none of these plugins, nor to the library.
[[nodiscard]] std::vector<std::string_view> keys_of_nobody(const registry::Config& config,
                                                           std::span<const std::string> plugins);

}  // namespace wye::exec
