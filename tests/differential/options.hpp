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
    std::vector<std::string> replay;   // files and folders to replay instead of random programs
    std::vector<std::pair<std::string, std::string>> config;  // configuration of the library
    std::string keep;     // folder in which findings are saved; empty: none are saved
    double limit = 120;   // seconds for shrinking one finding; 0: no shrinking
    double timeout = 60;  // seconds for one dispatch
    bool traps = false;
    bool any_state = false;  // each program runs in one of support::caller_states()
    std::string help;        // the text of --help, if that was given
};

// Reads the command line. Returns what is wrong, with a remedy; empty: nothing is wrong.
[[nodiscard]] std::string read_options(int argc, char** argv, Options& out);

}  // namespace differential
