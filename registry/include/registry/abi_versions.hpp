// SPDX-License-Identifier: Apache-2.0
//
// Decides whether a plugin and this host can work together, from the ABI versions that they were
// built with. Pure; free-threaded.
#pragma once

#include <cstdint>
#include <string>

#include "wye/abi.h"
#include "wye/sdk/result.hpp"

namespace wye::registry {

// A text such as "ABI 1.0" or "draft 3 of ABI 1.0".
[[nodiscard]] std::string abi_text(std::uint32_t minor, std::uint32_t draft);

// The ABI version that a plugin was built against, as its description or its manifest states it.
struct BuiltAgainst {
    std::uint32_t minor = 0, minor_needed = 0;
    std::uint32_t draft = 0, minor_frozen = 0;
};
// Returns the effective minor: the lower of the plugin's minor and the host's. If the two sides
// have different drafts, each side counts with the highest minor that was released when it was
// built (`minor_frozen`). The error says why the two cannot work together, with both versions: "it
// was built against draft 3 of ABI 1.0, and the host has ABI 1.0".
[[nodiscard]] Result<std::uint32_t> effective_minor(const BuiltAgainst& plugin);

// The error for a plugin that cannot work with this host, with both versions.
[[nodiscard]] Error abi_mismatch(const BuiltAgainst& plugin, const char* fix);

}  // namespace wye::registry
