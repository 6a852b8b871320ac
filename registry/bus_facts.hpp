// SPDX-License-Identifier: Apache-2.0
//
// Facts that the system knows of a device by its PCI address: numa_node, vendor_id, device_id.
// Internal to the registry.
#pragma once

#include <string>

#include "registry/facts.hpp"

namespace wye::registry {

// Adds those that the plugin does not report. `root`: the folder with a folder for each address.
void add_bus_facts(Facts& facts, const std::string& root = "/sys/bus/pci/devices/");

}  // namespace wye::registry
