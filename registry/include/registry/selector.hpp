// SPDX-License-Identifier: Apache-2.0
//
// Selector: the text that names devices, the same in the API, in WYE_DEVICE and in the tool. What
// is printed is what is accepted.
//
//   selector = entry { "," entry }          preferences, first match wins
//   entry    = [ "-" ] name                 "-" discards what the entry names from all others
//   name     = "auto" | plugin [ ":" ( index | "*" ) ]
//
// `plugin` and `plugin:*` both mean all devices of a plugin, in index order. A selector of discards
// only means auto without them. Spaces around entries are dropped. Pure values; free-threaded.
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

    // True when the entry, its "-" aside, covers this device. `auto` covers all.
    [[nodiscard]] bool covers(std::string_view plugin_id,
                              std::uint32_t device_index) const noexcept;
};

struct Selector {
    std::vector<SelectorEntry> entries;  // never empty

    // What is looked for, in order; [auto] when only discards were written.
    [[nodiscard]] std::vector<SelectorEntry> wanted() const;
    // A device that some "-" entry covers.
    [[nodiscard]] bool discards(std::string_view plugin_id, std::uint32_t index) const noexcept;
    // A plugin of which no device can be meant: it need not be opened.
    [[nodiscard]] bool excludes_plugin(std::string_view plugin_id) const noexcept;
};

// INVALID_ARGUMENT with the column and a caret line under the text. Empty text is `auto`.
[[nodiscard]] Result<Selector> parse_selector(std::string_view text);
[[nodiscard]] std::string to_text(const Selector& selector);
[[nodiscard]] std::string to_text(const SelectorEntry& entry);

}  // namespace wye::registry
