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

// The plugins by id, then the candidates that `records` passed over. Opens nothing.
[[nodiscard]] std::vector<LoadedPlugin> loaded_plugins(const Registry& registry,
                                                       const Selector& selector,
                                                       const std::vector<Record>& records);

struct LoadReport {
    std::vector<LoadedPlugin> plugins;
    std::vector<std::shared_ptr<const DeviceInfo>> devices;  // by plugin and index
    std::vector<Record> records;                             // by plugin, path, stage and message
};

// Opens every plugin that the selector does not exclude.
[[nodiscard]] LoadReport load_report(Registry& registry, const Selector& selector);

}  // namespace wye::registry
