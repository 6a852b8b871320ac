// SPDX-License-Identifier: Apache-2.0
//
// Runs a conformance kit in a process of its own and reads what it reports
// (tests/conformance/abi/report.hpp). The plugin is opened in that process only: if it ends or
// hangs the process, the case that ran is known, and this process continues. One thread.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "wye/sdk/result.hpp"

namespace wye::tool::conform {

struct KitEnd {
    enum class How : std::uint8_t {
        done,         // it ran all its cases and ended
        ended,        // the process ended before that, or by a signal after it
        timed_out,    // nothing was reported for the time limit
        not_loaded,   // it lacks a library; run_kit makes an error of it
        lost_report,  // its descriptor was closed, or something else was written to it
    };
    How how = How::done;
    bool said_done = false;
    std::string text;     // "by signal 11 (Segmentation fault)", "with exit status 3"
    std::string printed;  // the last that the process printed
};

// A line of the report: its kind, then its fields. False: there is no such kind, or it lacks
// fields.
using TakeLine = std::function<bool(const std::vector<std::string>& words)>;

// `words`: the kit, a path, and its arguments, to which `--report` is added. `limit`: for the time
// between two lines. IO: it cannot be started. MISSING_DEPENDENCY: it lacks a library.
[[nodiscard]] Result<KitEnd> run_kit(std::vector<std::string> words,
                                     std::chrono::milliseconds limit, const TakeLine& take);

}  // namespace wye::tool::conform
