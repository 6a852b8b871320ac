// SPDX-License-Identifier: Apache-2.0
//
// Whether a plugin and this host can work together, by the numbers that both were built with. Pure;
// free-threaded.
#pragma once

#include <cstdint>
#include <string>

#include "wye/abi.h"
#include "wye/sdk/result.hpp"

namespace wye::registry {

// "ABI 1.0", "draft 3 of ABI 1.0".
[[nodiscard]] std::string abi_text(std::uint32_t minor, std::uint32_t draft);

// What a plugin was built against: its description or its manifest says so.
struct BuiltAgainst {
    std::uint32_t minor = 0, minor_needed = 0;
    std::uint32_t draft = 0, minor_frozen = 0;
};
// Returns the effective minor: the lower of the plugin's and the host's or, if they have different
// drafts, the lower of what both have released. The error is why the two cannot work together, with
// the numbers of both: "it was built against draft 3 of ABI 1.0, and the host has ABI 1.0".
[[nodiscard]] Result<std::uint32_t> effective_minor(const BuiltAgainst& plugin);

// The error for a plugin that cannot work with this host, with the numbers of both.
[[nodiscard]] Error abi_mismatch(const BuiltAgainst& plugin, const char* fix);

}  // namespace wye::registry
