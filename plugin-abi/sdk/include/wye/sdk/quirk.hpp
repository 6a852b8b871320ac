// SPDX-License-Identifier: Apache-2.0
//
// Quirk: a plugin's workaround for a driver's interface. Each plugin lists its workarounds in
// `quirks.hpp`, with their constants and predicates. The code of a workaround names its entry:
// `quirk pocl-first-query`. Workarounds for driver faults in lowered code belong to the host.
#pragma once

#include <string_view>

namespace wye::sdk {

struct Quirk {
    std::string_view id;      // "pocl-first-query"
    std::string_view driver;  // "PoCL"
    std::string_view seen;    // driver versions with the fault
    // How the plugin recognises the driver; "always": applied everywhere.
    std::string_view detects;
    std::string_view happens;  // what the driver does wrong
    std::string_view done;     // what the plugin does about it
};

}  // namespace wye::sdk
