// SPDX-License-Identifier: Apache-2.0
//
// Selector: the text that names devices, the same in the API, in WYE_DEVICE and in the tool.
// Printed selectors are accepted as input.
//
//   selector = entry { "," entry }          preferences, first match wins
//   entry    = [ "-" ] name                 "-" excludes the named devices from the other entries
//   name     = "auto" | plugin [ ":" ( index | "*" ) ]
//
// `plugin` and `plugin:*` both mean all devices of a plugin, in index order. A selector with
// exclusions only means auto without those. Spaces around entries are ignored. Pure values;
// free-threaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wye/sdk/result.hpp"

namespace wye::registry {

struct SelectorEntry {
    enum class Kind : std::uint8_t { automatic, plugin, device };  // later: @id, "name part"
    Kind kind = Kind::automatic;
    bool discard = false;
    bool star = false;        // written `plugin:*`
    std::string plugin;       // plugin, device
    std::uint32_t index = 0;  // device

    // Whether the entry, apart from its "-", names this device. `auto` names all.
    [[nodiscard]] bool covers(std::string_view plugin_id,
                              std::uint32_t device_index) const noexcept;
};

struct Selector {
    std::vector<SelectorEntry> entries;  // never empty

    // The entries without "-", in order; [auto] if there are none.
    [[nodiscard]] std::vector<SelectorEntry> wanted() const;
    // Whether a "-" entry names the device.
    [[nodiscard]] bool discards(std::string_view plugin_id, std::uint32_t index) const noexcept;
    // Whether the selector can name no device of the plugin, so that it need not be opened.
    [[nodiscard]] bool excludes_plugin(std::string_view plugin_id) const noexcept;
};

// INVALID_ARGUMENT with the column and a caret line under the text. Empty text is `auto`.
[[nodiscard]] Result<Selector> parse_selector(std::string_view text);
[[nodiscard]] std::string to_text(const Selector& selector);
[[nodiscard]] std::string to_text(const SelectorEntry& entry);

}  // namespace wye::registry
