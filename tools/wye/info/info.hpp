// SPDX-License-Identifier: Apache-2.0
//
// The verb `wye info`: gets a report, live or from a file, and prints one view of it.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "../exit_code.hpp"

namespace wye::tool {

struct InfoOptions {
    enum class Verb { show, diff, environment, doctor };
    Verb verb = Verb::show;
    bool list = false, json = false, verbose = false, page = false;  // views; none: one screen
    bool strict = false;                                             // exit 5 if a plugin failed
    bool redact = false;
    bool all = false;           // for `env`: also variables that are not set
    std::string device;         // selector; empty: WYE_DEVICE, else auto
    std::string property;       // a view: the value of this property per device
    std::string require;        // a view: the devices that have these properties
    std::string explain;        // a view: the devices that can run this program
    std::string from;           // the file of a saved report, instead of this machine
    std::string since;          // for `doctor`: the file of a report from before a change
    std::string before, after;  // for `diff`: the files of two reports
    std::string color = "auto";
};

// Adds the options, and the verbs below `info`. `options` must outlive the parse.
void add_info(CLI::App& app, InfoOptions& options);

[[nodiscard]] ExitCode info(const InfoOptions& options);

}  // namespace wye::tool
