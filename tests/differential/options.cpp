// SPDX-License-Identifier: Apache-2.0
#include "differential/options.hpp"

#include <charconv>
#include <string_view>

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

// Parses a list such as "25,173,1000..1100". The end of a range is excluded.
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

}  // namespace

const char* const kUsage =
    "usage: wye fuzz [--seed N] [--count N] [options]\n"
    "       wye fuzz --seeds LIST [options]\n"
    "       wye fuzz --replay PATH... [options]\n"
    "Runs random programs on devices and compares every byte with the reference evaluator. What\n"
    "differs is made small and kept.\n"
    "  --seed N           the first program (default 0)\n"
    "  --count N          how many programs (default 100)\n"
    "  --seeds LIST       these programs: 25,173,1000..1100 (the end of a range is left out)\n"
    "  --devices LIST     selectors, separated by commas (default: every usable device)\n"
    "  --traps            programs that may trap\n"
    "  --keep FOLDER      write what differs there, one .wye file each, with its launch\n"
    "  --limit SECONDS    how long to make one finding small (default 120; 0: leave it as it is)\n"
    "  --timeout SECONDS  how long one dispatch may take (default 60)\n"
    "  --replay PATH      run such files, or all in a folder, instead of random programs\n"
    "  --with-quirk LIST, --without-quirk LIST\n"
    "                     with these workarounds for drivers, or without (see `wye quirks`)\n"
    "Exit status: 0 all equal, 1 something differs or a device failed, 2 wrong usage, 3 no usable\n"
    "device.\n";

std::string read_options(int argc, char** argv, Options& out) {
    std::uint64_t first = 0;
    std::uint64_t count = 100;
    bool range = false;
    for (int i = 1; i < argc; ++i) {
        const std::string_view key = argv[i];
        if (key == "--help" || key == "-h") {
            out.help = true;
            return {};
        }
        if (key == "--traps") {
            out.traps = true;
            continue;
        }
        const bool known = key == "--seed" || key == "--count" || key == "--seeds" ||
                           key == "--devices" || key == "--keep" || key == "--limit" ||
                           key == "--timeout" || key == "--replay" || key == "--with-quirk" ||
                           key == "--without-quirk";
        if (!known)
            return "there is no option `" + std::string(key) + "`\nFix: see `wye fuzz --help`";
        if (i + 1 == argc)
            return "`" + std::string(key) + "` needs a value\nFix: see `wye fuzz --help`";
        const std::string_view value = argv[++i];
        bool good = true;
        if (key == "--seed")
            good = range = number(value, first);
        else if (key == "--count")
            good = range = number(value, count) && count > 0 && count <= kMostSeeds;
        else if (key == "--seeds")
            good = seed_list(value, out.seeds);
        else if (key == "--devices")
            good = !(out.devices = split(value)).empty();
        else if (key == "--keep")
            good = !(out.keep = value).empty();
        else if (key == "--limit")
            good = number(value, out.limit) && out.limit >= 0;
        else if (key == "--timeout")
            good = number(value, out.timeout) && out.timeout > 0 && out.timeout <= 86400;
        else if (key == "--replay")
            out.replay.emplace_back(value);
        else
            out.config.emplace_back(key == "--with-quirk" ? "quirks.with" : "quirks.without",
                                    value);
        if (!good)
            return "`" + std::string(key) + " " + std::string(value) +
                   "` is not understood\nFix: see `wye fuzz --help`";
    }
    if (static_cast<int>(range) + static_cast<int>(!out.seeds.empty()) +
            static_cast<int>(!out.replay.empty()) >
        1)
        return "--seed with --count, --seeds and --replay exclude one another\nFix: give one of "
               "them";
    if (out.seeds.empty() && out.replay.empty()) (void)add_seeds(out.seeds, first, count);
    return {};
}

}  // namespace differential
