// SPDX-License-Identifier: Apache-2.0
//
// The choice of a device: walks the entries of a selector over plugins that are opened on demand,
// and keeps a reason for each loser. Free-threaded if the source is. Internal to the registry.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "registry/catalogue.hpp"
#include "registry/identity.hpp"

namespace wye::registry {

using DevicePtr = std::shared_ptr<const DeviceInfo>;

// The devices of all plugins opened so far, by physical device. Immutable.
struct Identified {
    std::vector<DevicePtr> devices;
    HostProcessor host;
    Identities identities;
    std::unordered_map<const DeviceInfo*, std::size_t> index;  // in `devices`

    // The id of its physical device; empty: not among them.
    [[nodiscard]] std::string_view physical(const DeviceInfo& device) const;
};

// What a choice is made from. The callbacks hold no lock that a plugin could wait for.
struct ChoiceSource {
    struct Opened {
        bool ok = false;
        std::string reason, fix;  // not ok
        std::span<const DevicePtr> devices;
    };
    std::vector<std::string_view> plugins;    // ids, in search order
    std::function<Opened(std::size_t)> open;  // by index; opens at most once
    std::function<std::shared_ptr<const Identified>()> identified;
    const Rank& rank;                                                // may be null
    std::function<void(std::span<const std::size_t>)> prepare = {};  // before several are opened

    [[nodiscard]] std::uint32_t points(const DeviceInfo& device) const {
        return rank ? rank(device).points : 0;
    }
};

// The devices that one entry names, in its order. Adds to `passed_over` why others are not, and why
// there is none: an `unmatched` one if the entry itself is at fault.
[[nodiscard]] std::vector<DevicePtr> named(const ChoiceSource& source, const SelectorEntry& entry,
                                           const Selector& selector,
                                           std::vector<PassedOver>& passed_over);

// As Registry::select, but for the error: nullopt leaves its reasons in `passed_over`.
[[nodiscard]] std::optional<Selection> choose(const ChoiceSource& source, const Selector& selector,
                                              const Fit& fit, Policy policy,
                                              std::vector<PassedOver>& passed_over);

}  // namespace wye::registry
