// SPDX-License-Identifier: Apache-2.0
#include "registry/abi_versions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace wye::registry {

std::string abi_text(std::uint32_t minor, std::uint32_t draft) {
    return fmt::format("{}ABI {}.{}", draft == 0 ? "" : fmt::format("draft {} of ", draft),
                       WYE_ABI_MAJOR, minor);
}

Error abi_mismatch(const BuiltAgainst& plugin, const char* fix) {
    return {Code::ABI_MISMATCH,
            fmt::format("it was built against {}{}, and the host has {}",
                        abi_text(plugin.minor, plugin.draft),
                        plugin.minor_needed == 0
                            ? ""
                            : fmt::format(" and needs {}", abi_text(plugin.minor_needed, 0)),
                        abi_text(WYE_ABI_MINOR, WYE_ABI_MINOR_DRAFT)),
            fix};
}

Result<std::uint32_t> effective_minor(const BuiltAgainst& plugin) {
    constexpr std::uint32_t kOurs = WYE_ABI_MINOR, kFrozen = WYE_ABI_MINOR_FROZEN;
    constexpr std::uint32_t kFloor = WYE_ABI_MINOR_FLOOR, kDraft = WYE_ABI_MINOR_DRAFT;
    const bool same = plugin.draft == kDraft;
    // A draft of a later minor extends a released minor, which both sides know. A draft of 1.0
    // extends none, so both sides must have the same draft.
    if (!same && plugin.draft != 0 && plugin.minor == plugin.minor_frozen)
        return abi_mismatch(plugin, "Fix: build the plugin with this host's header");
    const std::uint32_t minor =
        same ? std::min(plugin.minor, kOurs) : std::min(plugin.minor_frozen, kFrozen);
    if (plugin.minor_needed > minor)
        return abi_mismatch(plugin, "Fix: update the host, or use an older plugin");
    if (std::int64_t{plugin.minor} < std::int64_t{kFloor})
        return abi_mismatch(plugin, "Fix: update the plugin");
    return minor;
}

}  // namespace wye::registry
