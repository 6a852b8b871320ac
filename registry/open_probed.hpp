// SPDX-License-Identifier: Apache-2.0
//
// open_probed(): opens a plugin as its verdict allows. The result is a refusal, a description
// without opening the plugin in this process, or an opened plugin with the faults that the probe
// found. If the opened plugin contradicts a remembered verdict, the verdict is renewed, with a
// record. Internal to the registry.
#pragma once

#include "open_plugin.hpp"
#include "registry/probe.hpp"

namespace wye::registry {

[[nodiscard]] PluginOpening open_probed(const Candidate& candidate, const Prober& prober,
                                        Probed& probed, const std::shared_ptr<HostServices>& host);

}  // namespace wye::registry
