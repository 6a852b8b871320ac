// SPDX-License-Identifier: Apache-2.0
//
// The verbs and options of a command as plain values. The pages of `wye help`, the manual pages and
// the completions of shells are made from them, so that they say what --help says.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace wye::tool {

struct OptionEntry {
    std::vector<std::string> flags;  // "-d", "--device"
    std::string value;               // the word for its value; empty: a flag
    std::string about;
    bool required = false, repeats = false;
};

struct PositionalEntry {
    std::string name, about;
    bool required = false, repeats = false;
};

struct VerbEntry {
    std::string name, about;
    bool helper = false;  // a separate program
    std::vector<OptionEntry> options;
    std::vector<PositionalEntry> positionals;
    std::vector<VerbEntry> verbs;  // below this one, as "diff" below "info"
};

[[nodiscard]] VerbEntry verb_table(const CLI::App& app);

// As one JSON document, members as above; `value` is null for a flag.
[[nodiscard]] std::string json_of(const VerbEntry& table);

}  // namespace wye::tool
