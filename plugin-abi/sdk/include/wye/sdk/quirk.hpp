// SPDX-License-Identifier: Apache-2.0
//
// A plugin's workaround for a driver's interface. Each plugin lists its workarounds in
// `quirks.hpp`, beside their constants and predicates; the code of a workaround names its entry:
// `quirk pocl-first-query`. Workarounds for driver faults in lowered code belong to the host.
#pragma once

#include <string_view>

namespace wye::sdk {

struct Quirk {
    std::string_view id;       // "pocl-first-query"
    std::string_view driver;   // "PoCL"
    std::string_view seen;     // versions it was seen on
    std::string_view detects;  // how the plugin detects the driver; "always": applied everywhere
    std::string_view happens;  // what the driver does
    std::string_view done;     // what the plugin does about it
};

}  // namespace wye::sdk
