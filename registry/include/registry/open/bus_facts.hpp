// SPDX-License-Identifier: Apache-2.0
//
// PCI addresses, and facts that the operating system knows by them: numa_node, vendor_id,
// device_id. Internal to the registry.
#pragma once

#include <string>
#include <string_view>

#include "registry/open/facts.hpp"

namespace wye::registry {

// Normalises a PCI address to lower-case "dddd:bb:dd.f", with at least four digits before the first
// colon. Empty if the text is no PCI address, or all zeros.
[[nodiscard]] std::string normal_address(std::string_view text);

// Adds those facts that the plugin does not report. `root`: the folder with one folder per PCI
// address.
void add_bus_facts(Facts& facts, const std::string& root = "/sys/bus/pci/devices/");

}  // namespace wye::registry
