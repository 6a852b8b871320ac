// SPDX-License-Identifier: Apache-2.0
//
// The verbs of `wye`, except for `info` (info/info.hpp). Each verb takes parsed options, writes
// data to stdout and diagnostics to stderr, and returns the exit code.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exit_code.hpp"

namespace wye::tool {

struct VerbEntry;

struct HelpOptions {
    std::vector<std::string> words;  // a verb, and maybe a verb below it
    bool markdown = false;           // prints the page as Markdown, for manual pages
};
[[nodiscard]] ExitCode help(const HelpOptions& options, const VerbEntry& table);

struct CheckOptions {
    std::string program;
    bool json = false;
    bool warnings = false;     // prints warnings even if standard error is no terminal
    bool no_warnings = false;  // prints no warnings even on a terminal
    bool werror = false;       // a program with warnings fails
};
[[nodiscard]] ExitCode check(const CheckOptions& options);

struct ExplainOptions {
    std::vector<std::string> words;  // words of the language; empty: lists all words
};
[[nodiscard]] ExitCode explain(const ExplainOptions& options);

struct ConformOptions {
    std::string plugin;  // the plugin's file
    std::string device;  // selector or index; empty: the first usable device
    bool json = false, quick = false, full = false;
    std::vector<std::string> only;    // groups; empty: all
    std::vector<std::string> config;  // the plugin's configuration, as "KEY=VALUE"
    std::vector<std::string> layers;  // files of layers; the first is nearest to the host
    std::string timeout;              // seconds; empty: depends on `quick` and `full`
    std::string random_time;          // seconds; empty: depends on `quick` and `full`
};
[[nodiscard]] ExitCode conform_plugin(const ConformOptions& options);

struct LowerOptions {
    std::string program;
    std::string format;
    std::string device;  // selector; empty: assumes no facts and emulates everything
    bool check_free = false;
    std::string output;  // file; empty: stdout
    std::uint32_t ulp_budget = 0;
    std::vector<std::string> with_quirks, without_quirks;
};
[[nodiscard]] ExitCode lower(const LowerOptions& options);

struct NewPluginOptions {
    std::string name;                 // the plugin's id
    std::string format = "opencl-c";  // or "wye-program", or a vendor's own format
    std::string out;                  // the folder to make; empty: `name` in the current folder
};
[[nodiscard]] ExitCode new_plugin(const NewPluginOptions& options);

struct RunOptions {
    std::string program;
    std::string device;
    std::string policy = "require";    // or "prefer", "auto": how strictly the selector applies
    std::vector<std::string> inputs;   // name=DATA
    std::vector<std::string> outputs;  // name=FILE
    std::vector<std::string> shapes;   // name=ROWSxCOLUMNS
    std::vector<std::string> shown;    // outputs to print
    std::vector<std::string> params;   // name=VALUE
    std::optional<std::array<std::uint32_t, 3>> grid;
    std::optional<std::uint64_t> elements;
    std::uint64_t timeout_ms = 0;
    std::uint32_t ulp_budget = 0;
    bool variants = false;
    bool cooperative = false;
    std::optional<std::uint64_t> repeat;  // repetitions on resident buffers
    bool graph = false;                   // the repetitions are executions of a graph
    bool quiet = false;                   // no report line on stderr
    bool counters = false;                // also prints the device's counters
    bool json = false;                    // report and counters as one document on stdout
};
[[nodiscard]] ExitCode run(const RunOptions& options);

struct CacheOptions {
    std::string action = "size";  // or "list", "clear"
    bool json = false;
};
[[nodiscard]] ExitCode cache(const CacheOptions& options);

struct PluginsOptions {
    std::string action = "list";   // or "trust", "forget"
    std::vector<std::string> ids;  // plugin ids; for list, empty means all
    bool json = false;
};
[[nodiscard]] ExitCode plugins(const PluginsOptions& options);

struct QuirksOptions {
    bool json = false;
    bool audit = false;                                 // runs a helper program
    std::optional<std::string> devices, only, timeout;  // for the audit, which parses them
};
[[nodiscard]] ExitCode quirks(const QuirksOptions& options);

}  // namespace wye::tool
