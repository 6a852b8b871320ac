// SPDX-License-Identifier: Apache-2.0
//
// The command lines of verbs that are separate programs. `wye` adds them to its table of options,
// from which pages and completions are made; the programs parse them. Also prepares the help texts
// of all verbs.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace wye::tool {

// Prepares a command, and the verbs that are added to it later: help texts fit the terminal, and a
// flag takes no value. Call it before anything is added.
void prepare_command(CLI::App& app);

// Refuses an empty value. For CLI::Option::check, since CLI11 treats an empty value as missing.
[[nodiscard]] std::string refuse_empty(const std::string& value);

// Says what is wrong with a command line that CLI11 refused, in the terms of the help pages.
[[nodiscard]] std::string usage_fault(const CLI::ParseError& error);

struct BenchOptions {
    std::string device, json;  // a selector, and a file; empty: not given
    std::vector<std::string> names;
    bool against_raw = false, quick = false, list = false;
};
void add_bench(CLI::App& app, BenchOptions& options);

// Lists and numbers are kept as text: the helper program parses them, and reports what is wrong.
struct FuzzOptions {
    std::string seed, count, seeds, devices, keep, limit, timeout;
    std::vector<std::string> replay, with_quirks, without_quirks;
    bool traps = false, any_state = false;
};
void add_fuzz(CLI::App& app, FuzzOptions& options);

}  // namespace wye::tool
