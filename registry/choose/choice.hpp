// SPDX-License-Identifier: Apache-2.0
//
// choose(): selects a device. Walks the entries of a selector, opens plugins on demand, and keeps a
// reason for each device that was not chosen. Free-threaded if the callbacks of the ChoiceSource
// are. Internal to the registry.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "registry/choose/catalogue.hpp"
#include "registry/choose/identity.hpp"

namespace wye::registry {

using DevicePtr = std::shared_ptr<const DeviceInfo>;

// The devices of all plugins opened so far, grouped by physical device. Immutable.
struct Identified {
    std::vector<DevicePtr> devices;
    HostProcessor host;
    Identities identities;
    std::unordered_map<const DeviceInfo*, std::size_t> index;  // where each device is in `devices`

    // The id of the device's physical device; empty if the device is not in `devices`.
    [[nodiscard]] std::string_view physical(const DeviceInfo& device) const;
};

// The input of a selection. The callbacks hold no lock while they call a plugin.
struct ChoiceSource {
    struct Opened {
        bool ok = false;
        std::string reason, fix;  // set if opening failed
        std::span<const DevicePtr> devices;
    };
    std::vector<std::string_view> plugins;    // ids, in search order
    std::function<Opened(std::size_t)> open;  // by index in `plugins`; opens each once
    std::function<std::shared_ptr<const Identified>()> identified;
    const Rank& rank;  // may be null
    // Called before plugins are opened, with their indices in `plugins`, so that all of them can be
    // probed together.
    std::function<void(std::span<const std::size_t>)> prepare = {};
    // Returns the records so far, which may explain why a plugin is absent; may be null.
    std::function<std::vector<Record>()> records = {};

    [[nodiscard]] std::uint32_t points(const DeviceInfo& device) const {
        return rank ? rank(device).points : 0;
    }
};

// Why there is no plugin with this id, and the remedy, which may be empty. The reason is that the
// plugin's file was refused or is disabled, as `records` tells, or that no file has the id. `ids`:
// the ids of the plugins that exist.
struct Absence {
    std::string reason, fix;
};
[[nodiscard]] Absence absence_of(std::string_view id, const std::vector<std::string_view>& ids,
                                 const std::vector<Record>& records);

// Returns the devices that one entry names, in the entry's order. Adds to `passed_over` the reason
// against each plugin that gave no devices, and against each device that the entry names but that
// is left out. If the entry names nothing, or no device with its properties, adds the entry as
// `unmatched`.
[[nodiscard]] std::vector<DevicePtr> named(const ChoiceSource& source, const SelectorEntry& entry,
                                           const Selector& selector,
                                           std::vector<PassedOver>& passed_over);

// As `Registry::select`, but returns nullopt instead of an error, with the reasons in
// `passed_over`.
[[nodiscard]] std::optional<Selection> choose(const ChoiceSource& source, const Selector& selector,
                                              const Fit& fit, Policy policy,
                                              std::vector<PassedOver>& passed_over);

}  // namespace wye::registry
