// SPDX-License-Identifier: Apache-2.0
//
// Runs a conformance kit in a process of its own and reads the kit's report
// (tests/conformance/abi/report.hpp). The plugin is opened in that process only: if the plugin ends
// or hangs that process, the case that ran is known, and this process continues. Used by one
// thread.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "wye/sdk/result.hpp"

namespace wye::tool::conform {

struct KitEnd {
    enum class How : std::uint8_t {
        done,         // the kit ran all its cases, and the process ended
        ended,        // the process ended too early, or by a signal after all cases
        timed_out,    // the kit reported nothing within the time limit
        not_loaded,   // the kit lacks a library; run_kit returns an error instead
        lost_report,  // the report's descriptor was closed, or got other output
    };
    How how = How::done;
    bool said_done = false;
    std::string text;     // how the process ended: "with exit status 3"
    std::string printed;  // the last text that the process printed
};

// Takes a line of the report: its kind, then its fields. False: the kind is unknown, or fields are
// missing.
using TakeLine = std::function<bool(const std::vector<std::string>& words)>;

// `words`: the path of the kit, and its arguments, to which `--report` is added. `limit`: the
// longest time between two lines of the report. IO: the kit cannot be started. MISSING_DEPENDENCY:
// the kit lacks a library.
[[nodiscard]] Result<KitEnd> run_kit(std::vector<std::string> words,
                                     std::chrono::milliseconds limit, const TakeLine& take);

}  // namespace wye::tool::conform
