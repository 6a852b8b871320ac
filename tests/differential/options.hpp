// SPDX-License-Identifier: Apache-2.0
//
// The command line of `wye fuzz`.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace differential {

struct Options {
    std::vector<std::uint64_t> seeds;
    std::vector<std::string> devices;  // empty: all usable devices
    std::vector<std::string> replay;   // files and folders; replayed instead of seeds
    std::vector<std::pair<std::string, std::string>> config;  // configuration of the library
    std::string keep;     // folder for findings; empty: nothing is saved
    double limit = 120;   // seconds to shrink one finding; 0: do not shrink
    double timeout = 60;  // seconds for one dispatch
    bool traps = false;
    bool any_state = false;  // each program runs in another state of the caller
    std::string help;        // --help was given: its text
};

// Returns an empty text, or what is wrong, with a remedy.
[[nodiscard]] std::string read_options(int argc, char** argv, Options& out);

}  // namespace differential
