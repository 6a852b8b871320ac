// SPDX-License-Identifier: Apache-2.0
//
// LoadReport: what a context found, as values: every candidate with the stage that it reached,
// every device, every record. The JSON report and the C API show these. Owns all its strings.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/catalogue.hpp"

namespace wye::registry {

// A plugin, or a file that could have been one.
struct LoadedPlugin {
    enum class State : std::uint8_t {
        found,       // may be opened; nobody asked for it yet
        ready,       // opened
        failed,      // refused when it was opened
        refused,     // refused before it was opened
        shadowed,    // another one of its id takes precedence
        disabled,    // WYE_PLUGINS_DISABLE names it
        not_opened,  // the selector excludes it
    };
    State state = State::found;
    PluginInfo info;             // of a refused, shadowed or disabled one: id and path, if known
    bool has_source = false;     // info.source is known
    Stage stage = Stage::found;  // reached, or the one that failed
    std::optional<Record> reason;
};
[[nodiscard]] std::string_view loaded_state_name(LoadedPlugin::State state) noexcept;

// A device with what is known of its identity.
struct LoadedDevice {
    std::shared_ptr<const DeviceInfo> info;
    std::string physical;        // id of its physical device; empty: unknown
    std::vector<Alias> aliases;  // the other devices of it
};

struct LoadReport {
    std::vector<LoadedPlugin> plugins;
    std::vector<LoadedDevice> devices;  // by plugin and index
    std::vector<Record> records;        // by plugin, path, stage and message
    std::vector<PassedOver> unmatched;  // entries of the selector that name nothing
    // The device that the selector picks, an index of `devices`; none: it picks none.
    std::optional<std::size_t> picked;
    std::vector<std::size_t> order;  // of the devices, as the selector prefers them
    Registry::PhysicalListing physical;
};

// Opens every plugin that the selector does not exclude.
[[nodiscard]] LoadReport load_report(Registry& registry, const Selector& selector);

}  // namespace wye::registry
