// SPDX-License-Identifier: Apache-2.0
//
// DeviceSelection: finds the devices of a registry's plugins that a selector names, selects the
// best of them, and groups the devices that are one physical device. Opens a plugin only if the
// request may concern it. A Registry owns the DeviceSelection and the KnownPlugins, and destroys
// the DeviceSelection first.
//
// Free-threaded. A lock guards the physical devices that were found last. No thread takes another
// lock while it holds this one. Internal to the registry.
#pragma once

#include <memory>
#include <vector>

#include "choice.hpp"
#include "known_plugins.hpp"
#include "wye/sdk/mutex.hpp"

namespace wye::registry {

class DeviceSelection {
  public:
    // `rank`: may be null.
    DeviceSelection(KnownPlugins& plugins, Rank rank) : plugins_(plugins), rank_(std::move(rank)) {}

    // As the functions of `Registry` with these names.
    [[nodiscard]] Result<Selection> select(const Selector& selector, const Fit& fit, Policy policy);
    [[nodiscard]] Registry::Listing list(const Selector& selector);
    [[nodiscard]] Registry::PhysicalListing physical();
    // As `Registry::alternative`, but prefers devices of a plugin that `selector` names; null: no
    // preference.
    [[nodiscard]] DevicePtr alternative(const Fit& fit, const Selector* selector = nullptr);

  private:
    [[nodiscard]] ChoiceSource source(std::vector<KnownPlugin*> from);
    [[nodiscard]] std::shared_ptr<const Identified> identified();
    [[nodiscard]] bool names_builtin(const Selector& selector) const;
    [[nodiscard]] std::string what_exists();
    [[nodiscard]] Error nothing(const Selector& selector,
                                const std::vector<PassedOver>& passed_over);
    [[nodiscard]] std::uint32_t points(const DeviceInfo& device) const {
        return rank_ ? rank_(device).points : 0;
    }

    KnownPlugins& plugins_;
    const Rank rank_;
    sdk::Mutex identified_mutex_;
    std::shared_ptr<const Identified> identified_ WYE_GUARDED_BY(identified_mutex_);
    // The number of opened plugins when `identified_` was made.
    std::size_t identified_plugins_ WYE_GUARDED_BY(identified_mutex_) = 0;
};

}  // namespace wye::registry
