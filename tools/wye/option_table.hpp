// SPDX-License-Identifier: Apache-2.0
//
// The verbs and options of a command as plain values. The pages of `wye help`, the manual pages and
// the completions of shells are made from these values, so that all of them say what --help says.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace wye::tool {

struct OptionEntry {
    std::vector<std::string> flags;  // "-d", "--device"
    std::string value;               // the value's name in help texts; empty: the option is a flag
    std::string about;
    bool required = false, repeats = false;
    std::vector<std::string> values = {};  // the known values, which a shell completes
    bool view = false;                     // whether the option is in the group kViews
};

// The group of options that choose a view of a verb. The verbs below that verb refuse these
// options, since each such verb prints a view of its own.
inline constexpr const char* kViews = "Options for views";

struct PositionalEntry {
    std::string name, about;
    bool required = false, repeats = false;
    std::vector<std::string> values = {};
};

struct VerbEntry {
    std::string name, about;
    bool helper = false;  // a separate program
    std::vector<OptionEntry> options;
    std::vector<PositionalEntry> positionals;
    std::vector<VerbEntry> verbs;  // subcommands, such as "diff" of "info"
};

[[nodiscard]] VerbEntry verb_table(const CLI::App& app);

// Sets the known values of a verb's option or positional argument; `name` is "--format" or "verb".
void add_values(VerbEntry& table, const std::string& verb, const std::string& name,
                const std::vector<std::string>& values);

// The table as one JSON document with the members of VerbEntry; `value` is null for a flag.
[[nodiscard]] std::string json_of(const VerbEntry& table);

}  // namespace wye::tool
