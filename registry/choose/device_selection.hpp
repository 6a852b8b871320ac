// SPDX-License-Identifier: Apache-2.0
//
// DeviceSelection: what a request can mean: the devices of a registry's plugins that a selector
// names, the best of them, and which of them are one physical device. Opens a plugin only if the
// request may concern it. A Registry owns it, beside the plugins, which outlive it.
//
// Free-threaded. Its lock guards the physical devices as last found, and is taken alone. Internal
// to the registry.
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

    // As the functions of Registry.
    [[nodiscard]] Result<Selection> select(const Selector& selector, const Fit& fit, Policy policy);
    [[nodiscard]] Registry::Listing list(const Selector& selector);
    [[nodiscard]] Registry::PhysicalListing physical();
    // Prefers devices of a plugin that the selector names; null: none is preferred.
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
