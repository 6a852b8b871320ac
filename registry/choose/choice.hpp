// SPDX-License-Identifier: Apache-2.0
//
// choose(): selects a device. Walks the entries of a selector, opening plugins on demand, and keeps
// a reason for each device that was not chosen. Free-threaded if the source is. Internal to the
// registry.
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
    std::unordered_map<const DeviceInfo*, std::size_t> index;  // in `devices`

    // The id of the device's physical device; empty if it is not in `devices`.
    [[nodiscard]] std::string_view physical(const DeviceInfo& device) const;
};

// The input of a selection. Its callbacks hold no lock that a plugin could wait for.
struct ChoiceSource {
    struct Opened {
        bool ok = false;
        std::string reason, fix;  // set if opening failed
        std::span<const DevicePtr> devices;
    };
    std::vector<std::string_view> plugins;    // ids, in search order
    std::function<Opened(std::size_t)> open;  // by index in `plugins`; opens each at most once
    std::function<std::shared_ptr<const Identified>()> identified;
    const Rank& rank;  // may be null
    // Called before several plugins are opened.
    std::function<void(std::span<const std::size_t>)> prepare = {};
    // What the search for plugins found wrong; may be null.
    std::function<std::vector<Record>()> records = {};

    [[nodiscard]] std::uint32_t points(const DeviceInfo& device) const {
        return rank ? rank(device).points : 0;
    }
};

// Why there is no plugin of this id, and the remedy: a file of it was refused, or a variable
// disables it, or no file has it, and `ids` are those that there are.
struct Absence {
    std::string reason, fix;
};
[[nodiscard]] Absence absence_of(std::string_view id, const std::vector<std::string_view>& ids,
                                 const std::vector<Record>& records);

// Returns the devices that one entry names, in the entry's order. Adds to `passed_over` why other
// devices are not among them. If there is none, adds why; as `unmatched` if the entry itself is at
// fault.
[[nodiscard]] std::vector<DevicePtr> named(const ChoiceSource& source, const SelectorEntry& entry,
                                           const Selector& selector,
                                           std::vector<PassedOver>& passed_over);

// As Registry::select, but returns nullopt instead of an error, with the reasons in `passed_over`.
[[nodiscard]] std::optional<Selection> choose(const ChoiceSource& source, const Selector& selector,
                                              const Fit& fit, Policy policy,
                                              std::vector<PassedOver>& passed_over);

}  // namespace wye::registry
