// SPDX-License-Identifier: Apache-2.0
//
// Finds the devices of a report that can run a program. The library's own code compares the
// program's needs with the devices' facts. Pure.
#pragma once

#include "views.hpp"

namespace wye::tool {

struct Explained {
    // A line for each device, then the device that would be picked. For a program with native
    // variants, more lines state the variant that would run on a device, and why others would not.
    std::string text;
    bool fits = false;  // whether a device can run the program
};

// `analysis`: the output of `wye check --json` for the program.
[[nodiscard]] Explained explain_view(const Report& report, const Report& analysis,
                                     const Style& style);

}  // namespace wye::tool
