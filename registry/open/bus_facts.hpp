// SPDX-License-Identifier: Apache-2.0
//
// Facts that the operating system knows about a device by its PCI address: numa_node, vendor_id,
// device_id. Internal to the registry.
#pragma once

#include <string>

#include "registry/open/facts.hpp"

namespace wye::registry {

// Adds those facts that the plugin does not report. `root`: the folder with one folder per PCI
// address.
void add_bus_facts(Facts& facts, const std::string& root = "/sys/bus/pci/devices/");

}  // namespace wye::registry
