// SPDX-License-Identifier: Apache-2.0
//
// Finds which driver workarounds the devices of this machine still need: runs the regression of
// each workaround without the workaround, in a child process with a time limit.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lower/quirks/quirks.hpp"

namespace differential {

struct AuditOptions {
    std::vector<std::string> devices;  // selectors; empty: all usable
    std::vector<std::string> only;     // names of quirks; empty: all
    double timeout = 20;               // seconds for one launch, compilation included
};

enum class Need {
    Needed,       // the regression fails without the workaround
    NotSeenHere,  // the regression passes without the workaround
    Failing,      // the regression fails even with the workaround
    NotRunHere    // the device refuses the program
};
// "needed", "not seen here", ...
[[nodiscard]] std::string_view need_text(Need need);

struct Audited {
    std::string device;
    std::string_view quirk;
    bool active = false;  // whether the device gets the workaround
    Need need = Need::NotSeenHere;
    std::string how;  // "hang", "crash", "does not compile", "wrong bytes"; or a message
};

// Calls `each` for each result. Errors: no device is usable, or a device cannot be opened.
[[nodiscard]] wye::Result<void> audit(const AuditOptions& options,
                                      const std::function<void(const Audited&)>& each);

}  // namespace differential
