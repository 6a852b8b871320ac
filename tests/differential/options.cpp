// SPDX-License-Identifier: Apache-2.0
#include "differential/options.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <CLI/CLI.hpp>

#include "command/helper_options.hpp"
#include "wye/sdk/printable.hpp"

namespace differential {
namespace {

constexpr std::uint64_t kMostSeeds = 10'000'000;

template <typename T>
bool number(std::string_view text, T& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size();
}

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> out;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        if (comma > 0) out.emplace_back(text.substr(0, comma));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return out;
}

bool add_seeds(std::vector<std::uint64_t>& seeds, std::uint64_t first, std::uint64_t count) {
    if (count > kMostSeeds || seeds.size() + count > kMostSeeds) return false;
    for (std::uint64_t i = 0; i < count; ++i) seeds.push_back(first + i);
    return true;
}

// Parses a list such as "25,173,1000..1100". The end of a range does not belong to it.
bool seed_list(std::string_view text, std::vector<std::uint64_t>& seeds) {
    for (const std::string& part : split(text)) {
        const std::string_view word = part;
        const std::size_t dots = word.find("..");
        std::uint64_t first = 0;
        std::uint64_t end = 0;
        if (!number(word.substr(0, dots), first)) return false;
        if (dots != std::string_view::npos && (!number(word.substr(dots + 2), end) || end < first))
            return false;
        if (!add_seeds(seeds, first, dots == std::string_view::npos ? 1 : end - first))
            return false;
    }
    return !seeds.empty();
}

// Reads the values of options. Returns the first wrong one with its option; empty: all are right.
std::string read_values(const CLI::App& app, const wye::tool::FuzzOptions& given, Options& out) {
    std::uint64_t first = 0;
    std::uint64_t count = 100;
    const auto wrong = [&](const char* flag, const std::string& value, bool good) {
        return app.count(flag) != 0 && !good ? flag + (" " + value) : std::string();
    };
    const std::string bad[] = {
        wrong("--seed", given.seed, number(given.seed, first)),
        wrong("--count", given.count,
              number(given.count, count) && count > 0 && count <= kMostSeeds),
        wrong("--seeds", given.seeds, seed_list(given.seeds, out.seeds)),
        wrong("--devices", given.devices, !(out.devices = split(given.devices)).empty()),
        wrong("--keep", given.keep, !(out.keep = given.keep).empty()),
        wrong("--limit", given.limit, number(given.limit, out.limit) && out.limit >= 0),
        wrong("--timeout", given.timeout,
              number(given.timeout, out.timeout) && out.timeout > 0 && out.timeout <= 86400)};
    for (const std::string& each : bad)
        if (!each.empty()) return each;
    if (out.seeds.empty() && given.replay.empty()) (void)add_seeds(out.seeds, first, count);
    return {};
}

}  // namespace

std::string read_options(int argc, char** argv, Options& out) {
    CLI::App app("Compare random programs on devices with the reference evaluator.", "wye fuzz");
    wye::tool::FuzzOptions given;
    wye::tool::prepare_command(app);
    wye::tool::add_fuzz(app, given);
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        out.help = app.help();
        return {};
    } catch (const CLI::ParseError& error) {
        return wye::tool::usage_fault(error) + "\nFix: see `wye fuzz --help`";
    }
    const bool range = app.count("--seed") + app.count("--count") != 0;
    if (static_cast<int>(range) + static_cast<int>(app.count("--seeds") != 0) +
            static_cast<int>(!given.replay.empty()) >
        1)
        return "--seed with --count, --seeds and --replay exclude one another\nFix: give one of "
               "them";
    if (const std::string bad = read_values(app, given, out); !bad.empty())
        return "`" + wye::sdk::one_line(bad) + "` is not understood\nFix: see `wye fuzz --help`";
    out.traps = given.traps;
    out.any_state = given.any_state;
    out.replay = given.replay;
    for (const std::string& list : given.with_quirks) out.config.emplace_back("quirks.with", list);
    for (const std::string& list : given.without_quirks)
        out.config.emplace_back("quirks.without", list);
    return {};
}

}  // namespace differential
