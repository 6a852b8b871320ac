// SPDX-License-Identifier: Apache-2.0
// `wye quirks --audit`: which workarounds for drivers the devices of this machine still need.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "command/output.hpp"
#include "differential/quirks_audit.hpp"
#include "wye/sdk/printable.hpp"
#include "wye/sdk/standard_files.hpp"

namespace {

using namespace differential;
using nlohmann::ordered_json;

enum Exit { kFine = 0, kWrong = 1, kUsageError = 2, kNoDevice = 3 };

constexpr const char* kUsage =
    "usage: wye-quirks [--devices LIST] [--only LIST] [--timeout S] [--json]\n"
    "Replays the regression of each workaround for drivers without it, each in a process of its\n"
    "own, and says which are still needed. `wye quirks --audit` runs this program.\n"
    "  --devices LIST     selectors or plugins, separated by commas (default: all usable devices)\n"
    "  --only LIST        these workarounds, separated by commas\n"
    "  --timeout S        seconds that one launch may take (default 20)\n"
    "  --json             one object per line\n"
    "Exit status: 0 ok; 1 a workaround is missing or does not help; 2 bad usage; 3 no device.\n";

struct Options {
    bool json = false, help = false;
    AuditOptions how;
};

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> out;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        if (comma > 0) out.emplace_back(text.substr(0, comma));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return out;
}

// Reads the command line. Returns what is wrong; empty: nothing is wrong.
std::string read_options(int argc, char** argv, Options& out) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view flag = argv[i];
        const bool takes_value = flag == "--devices" || flag == "--only" || flag == "--timeout";
        if (takes_value && i + 1 == argc)
            return fmt::format("`{}` has no value\nFix: see `wye quirks --help`", flag);
        if (flag == "--json") {
            out.json = true;
        } else if (flag == "--help" || flag == "-h") {
            out.help = true;
        } else if (flag == "--devices") {
            out.how.devices = split(argv[++i]);
        } else if (flag == "--only") {
            out.how.only = split(argv[++i]);
        } else if (flag == "--timeout") {
            const char* const text = argv[++i];
            const char* const end = text + std::strlen(text);
            const auto [at, error] = std::from_chars(text, end, out.how.timeout);
            if (error != std::errc() || at != end || !(out.how.timeout >= 1) ||
                out.how.timeout > 3600)
                return fmt::format(
                    "`--timeout {}` is not a number of seconds from 1 to 3600\n"
                    "Fix: write it as in --timeout 20",
                    wye::sdk::one_line(text));
        } else {
            return fmt::format("`{}` is not understood\nFix: see `wye quirks --help`",
                               wye::sdk::one_line(flag));
        }
    }
    for (const std::string& name : out.how.only)
        if (const auto known = wye::lower::parse_quirks(name); !known.ok())
            return known.error().text();
    return {};
}

int audit_devices(const Options& options) {
    wye::tool::keep_output();
    bool fine = true;
    const auto result = audit(options.how, [&](const Audited& one) {
        fine = fine && one.need != Need::Failing && (one.active || one.need != Need::Needed);
        if (options.json)
            fmt::print(wye::tool::output(), "{}\n",
                       ordered_json{{"device", one.device},
                                    {"id", one.quirk},
                                    {"active", one.active},
                                    {"verdict", need_text(one.need)},
                                    {"how", one.how}}
                           .dump(-1, ' ', true, ordered_json::error_handler_t::replace));
        else
            fmt::print(wye::tool::output(), "{:<12} {:<30} {:<10} {}{}\n", one.device, one.quirk,
                       one.active ? "active" : "not active", need_text(one.need),
                       one.how.empty() ? "" : fmt::format(": {}", one.how));
        std::fflush(wye::tool::output());
    });
    if (result.ok()) return fine ? kFine : kWrong;
    std::fprintf(stderr, "wye quirks: error: %s\n", result.error().text().c_str());
    return result.error().code == wye::Code::NO_DEVICE ? kNoDevice : kWrong;
}

}  // namespace

int main(int argc, char** argv) {
    wye::sdk::open_standard_files();
    Options options;
    if (const std::string wrong = read_options(argc, argv, options); !wrong.empty()) {
        std::fprintf(stderr, "wye quirks: error: %s\n", wrong.c_str());
        return kUsageError;
    }
    if (!options.help) return audit_devices(options);
    std::fputs(kUsage, wye::tool::output());
    return std::fflush(wye::tool::output()) == 0 ? kFine : kWrong;
}
