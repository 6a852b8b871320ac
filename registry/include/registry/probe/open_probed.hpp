// SPDX-License-Identifier: Apache-2.0
//
// open_probed(): what a plugin's verdict makes of it: a refusal, a description without opening it
// in this process, or an opening with the faults that the probe found. A remembered verdict that
// the opened plugin contradicts is renewed, with a record. Probes are without layers. Internal to
// the registry.
#pragma once

#include "registry/open/open_plugin.hpp"
#include "registry/probe/probe.hpp"

namespace wye::registry {

[[nodiscard]] PluginOpening open_probed(const Candidate& candidate, const Prober& prober,
                                        Probed& probed, const std::shared_ptr<HostServices>& host,
                                        const std::shared_ptr<const Layers>& layers);

}  // namespace wye::registry
