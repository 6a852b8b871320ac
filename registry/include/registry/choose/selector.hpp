// SPDX-License-Identifier: Apache-2.0
//
// Selector: a text that names devices, with one grammar for the API, WYE_DEVICE, filters of native
// variants and the command. Printed selectors are accepted as input.
//
//   selector = entry { "," entry }          preferences, first match wins
//   entry    = [ "-" ] device [ "[" property { "," property } "]" ]
//   device   = "auto" | "*" | which | plugin [ ":" ( index | "*" | which ) ]
//   which    = "@" id | '"' part of a name '"'
//
// "-" excludes the devices from the other entries. `auto` and `*` both mean all devices, the best
// first; `plugin` and `plugin:*` mean all devices of a plugin, in index order. `@id` means one
// physical device, in each plugin that has it, the best first; `id` is the physical device's id,
// UUID or PCI address, or the id of one of its devices. A quoted part of a name is compared without
// regard to case. Properties (property.hpp) must all hold. A selector that consists of exclusions
// means `auto` without the excluded devices. Spaces around entries and properties are ignored. Pure
// values; free-threaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/choose/property.hpp"
#include "wye/sdk/result.hpp"

namespace wye::registry {

struct DeviceInfo;

struct SelectorEntry {
    enum class Kind : std::uint8_t { automatic, all, plugin, device, id, name };
    Kind kind = Kind::automatic;
    bool discard = false;
    bool star = false;        // written as `plugin:*`
    std::string plugin;       // for kinds plugin and device; for id and name, empty: any plugin
    std::uint32_t index = 0;  // for kind device
    std::string text;         // for kinds id and name: as written, without "@" or quotes
    std::vector<Property> properties;

    // Whether the entry, apart from its "-" and its properties, names this device. `physical`: the
    // id of the device's physical device; empty: unknown.
    [[nodiscard]] bool names(const DeviceInfo& device, std::string_view physical = {}) const;
    // Whether the entry names the device and its properties hold.
    [[nodiscard]] bool covers(const DeviceInfo& device, std::string_view physical = {}) const;
    // The first property that does not hold; null: all hold.
    [[nodiscard]] const Property* broken(const DeviceInfo& device) const;
    // Whether the entry may name a device of the plugin.
    [[nodiscard]] bool can_name(std::string_view plugin_id) const noexcept;
    // Whether the devices that the entry names are ordered by rank, as for `auto`, not by index.
    [[nodiscard]] bool ranked() const noexcept { return plugin.empty(); }
};

struct Selector {
    std::vector<SelectorEntry> entries;  // never empty

    // The entries without "-", in order; `auto` alone if there are none.
    [[nodiscard]] std::vector<SelectorEntry> wanted() const;
    // Whether a "-" entry names the device.
    [[nodiscard]] bool discards(const DeviceInfo& device, std::string_view physical = {}) const;
    // Whether a "-" entry names all devices of the plugin.
    [[nodiscard]] bool discards_plugin(std::string_view plugin_id) const noexcept;
    // Whether the selector can name no device of the plugin, so that the plugin need not be opened.
    [[nodiscard]] bool excludes_plugin(std::string_view plugin_id) const noexcept;
    // Whether an entry names a device by an id.
    [[nodiscard]] bool has_ids() const noexcept;
};

// The error INVALID_ARGUMENT states the column, and shows the text with a caret below. An empty
// text is `auto`.
[[nodiscard]] Result<Selector> parse_selector(std::string_view text);
[[nodiscard]] std::string to_text(const Selector& selector);
[[nodiscard]] std::string to_text(const SelectorEntry& entry);

// The selector of all devices of a kind ("*[kind=gpu]"), for the remedy where a kind such as `gpu`
// was written in place of a plugin. Empty if `word` is not a kind.
[[nodiscard]] std::string devices_of_kind(std::string_view word);

}  // namespace wye::registry
