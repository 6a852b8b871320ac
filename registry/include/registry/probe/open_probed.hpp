// SPDX-License-Identifier: Apache-2.0
//
// open_probed(): opens a plugin as its verdict allows: refuses it, describes it without opening it
// in this process, or opens it and adds the faults that the probe found. If the opened plugin
// contradicts a remembered verdict, the plugin is probed again, and a record says so. A probe uses
// no layers. Internal to the registry.
#pragma once

#include "registry/open/open_plugin.hpp"
#include "registry/probe/probe.hpp"

namespace wye::registry {

[[nodiscard]] PluginOpening open_probed(const Candidate& candidate, const Prober& prober,
                                        Probed& probed, const std::shared_ptr<HostServices>& host,
                                        const std::shared_ptr<const Layers>& layers);

}  // namespace wye::registry
