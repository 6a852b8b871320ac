// SPDX-License-Identifier: Apache-2.0
//
// A workaround for a driver's interface that lives in a plugin. Each plugin lists its own in
// `quirks.hpp`, beside the constants and questions that its code asks; code that works around names
// the entry: `quirk pocl-first-query`. Workarounds for what drivers make of lowered code are the
// host's.
#pragma once

#include <string_view>

namespace wye::sdk {

struct Quirk {
    std::string_view id;       // "pocl-first-query"
    std::string_view driver;   // "PoCL"
    std::string_view seen;     // versions it was seen on
    std::string_view detects;  // how the plugin knows that it applies; "always": applied everywhere
    std::string_view happens;  // what the driver does
    std::string_view done;     // what the plugin does about it
};

}  // namespace wye::sdk
