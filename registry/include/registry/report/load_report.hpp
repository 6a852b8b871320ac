// SPDX-License-Identifier: Apache-2.0
//
// LoadReport: what a context found, as values: every candidate plugin with the stage that it
// reached, every device, every record. The JSON report and the C API present it. Owns all its
// strings.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/choose/catalogue.hpp"

namespace wye::registry {

// A plugin, or a file that could have been one.
struct LoadedPlugin {
    enum class State : std::uint8_t {
        found,       // may be opened, but has not been
        ready,       // opened
        failed,      // refused when it was opened
        refused,     // refused before it was opened
        shadowed,    // another plugin of its id takes precedence
        disabled,    // WYE_PLUGINS_DISABLE names it
        not_opened,  // the selector excludes it
    };
    State state = State::found;
    // If the state is refused, shadowed or disabled: only id and path, as far as known.
    PluginInfo info;
    bool has_source = false;     // whether info.source is known
    Stage stage = Stage::found;  // the last stage reached, or the one that failed
    std::optional<Record> reason;
};
[[nodiscard]] std::string_view loaded_state_name(LoadedPlugin::State state) noexcept;

// A device and its identity, as far as known.
struct LoadedDevice {
    std::shared_ptr<const DeviceInfo> info;
    std::string physical;        // id of its physical device; empty: unknown
    std::vector<Alias> aliases;  // other devices that are the same physical device
};

struct LoadReport {
    std::vector<LoadedPlugin> plugins;
    std::vector<LoadedDevice> devices;  // by plugin and index
    std::vector<Record> records;        // by plugin, path, stage and message
    std::vector<PassedOver> unmatched;  // entries of the selector that name nothing
    // Index in `devices` of the device that the selector picks; none if it picks none.
    std::optional<std::size_t> picked;
    std::vector<std::size_t> order;  // indices of `devices`, in the selector's order of preference
    Registry::PhysicalListing physical;
};

// Opens every plugin that the selector does not exclude, and reports the result.
[[nodiscard]] LoadReport load_report(Registry& registry, const Selector& selector);

}  // namespace wye::registry
