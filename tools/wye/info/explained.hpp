// SPDX-License-Identifier: Apache-2.0
//
// Which devices of a report can run a program, by the library's own comparison of needs with facts.
// Pure.
#pragma once

#include "views.hpp"

namespace wye::tool {

struct Explained {
    // A line for each device. If the program has native variants, also which variant would run on
    // the device, and why the variants before it would not. Then the device that would be picked.
    std::string text;
    bool fits = false;  // whether a device can run the program
};

// `analysis`: the output of `wye check --json` for the program.
[[nodiscard]] Explained explain_view(const Report& report, const Report& analysis,
                                     const Style& style);

}  // namespace wye::tool
