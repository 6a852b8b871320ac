// SPDX-License-Identifier: Apache-2.0
//
// Normalises PCI addresses, and adds the facts that the operating system knows of an address:
// numa_node, vendor_id, device_id. Internal to the registry.
#pragma once

#include <string>
#include <string_view>

#include "registry/open/facts.hpp"

namespace wye::registry {

// Normalises a PCI address to lower-case "dddd:bb:dd.f", with at least four digits before the first
// colon. Empty if the text is no PCI address, or all zeros.
[[nodiscard]] std::string normal_address(std::string_view text);

// Adds numa_node, vendor_id and device_id where the plugin does not report them. `root`: the folder
// that has one folder for each PCI address.
void add_bus_facts(Facts& facts, const std::string& root = "/sys/bus/pci/devices/");

}  // namespace wye::registry
