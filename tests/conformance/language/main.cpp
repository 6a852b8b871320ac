// SPDX-License-Identifier: Apache-2.0
// The conformance kit of the language, which `wye conform` runs as a child: runs programs with
// known results on one device, through the public API. The last line is "N passed, N failed". Exit
// status: 0 all passed, 1 something failed or the device cannot be opened, 2 wrong usage.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/abi/report.hpp"
#include "conformance/language/suites.hpp"
#include "wye/sdk/standard_files.hpp"

namespace {

constexpr const char* kUsage =
    "usage: wye-conform-language SUITE --device SELECTOR [options]\n"
    "  examples [--only NAME] [--seed N] [--scale N]  the example programs (N 0: one small launch "
    "each)\n"
    "  features [--only NAME]                         grid barriers, subgroups, f16, ...\n"
    "  reference                                      the examples of the language reference\n"
    "  random [--seeds FIRST..LAST] [--every N] [--seconds N] [--dump FOLDER]\n"
    "         random programs, LAST left out; after N seconds no other one begins; with --seeds "
    "4..LAST\n"
    "         --every 5, all call math functions\n"
    "  traps  as random, with programs that may trap\n"
    "  functions [--seeds FIRST..LAST] [--seconds N]\n"
    "         all results of math functions of f32, 16 cases for each; for all, 0..352\n"
    "  sweeps [--only TYPE] [--count N]               every operation on every type, N inputs "
    "each\n"
    "  capabilities                                   a program for each capability\n"
    "  limits                                         programs that use all of a limit\n"
    "  device                                         only opens the device\n"
    "  --config KEY=VALUE  a plugin's configuration, e.g. cpu.isa=avx2; may be repeated\n"
    "  --plugin FILE       a plugin to look for first\n"
    "  --report FD         writes what `wye conform` reads to this descriptor\n"
    "  --from N            leaves out the first N cases\n"
    "  --cases N           leaves out the cases after N that ran\n";

using support::Device;

constexpr const char* kRules = "P-23";  // rule of the suites without rules of their own

struct Options {
    std::string suite, device, only, plugin;
    std::uint64_t seed = 1, scale = 1;
    conformance::Seeds seeds;
    std::uint64_t count = std::uint64_t{1} << 20U;
    std::uint64_t report = 0, from = 0, cases = UINT64_MAX;
    std::vector<std::pair<std::string, std::string>> config;
};

bool number(std::string_view text, std::uint64_t& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size();
}

bool seconds(std::string_view text, std::chrono::seconds& out) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    out = std::chrono::seconds(value);
    return error == std::errc() && end == text.data() + text.size();
}

bool range(std::string_view text, std::uint64_t& first, std::uint64_t& last) {
    const std::size_t dots = text.find("..");
    return dots != std::string_view::npos && number(text.substr(0, dots), first) &&
           number(text.substr(dots + 2), last);
}

bool setting(std::string_view text, std::vector<std::pair<std::string, std::string>>& config) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string_view::npos) return false;
    config.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    return true;
}

bool read(int argc, char** argv, Options& o) {
    if (argc < 2) return false;
    o.suite = argv[1];
    for (int i = 2; i + 1 < argc; i += 2) {
        const std::string_view key = argv[i];
        const std::string_view value = argv[i + 1];
        bool good = true;
        if (key == "--device")
            o.device = value;
        else if (key == "--only")
            o.only = value;
        else if (key == "--dump")
            o.seeds.dump = value;
        else if (key == "--plugin")
            o.plugin = value;
        else if (key == "--report")
            good = number(value, o.report) && o.report < 1024;
        else if (key == "--from")
            good = number(value, o.from);
        else if (key == "--cases")
            good = number(value, o.cases);
        else if (key == "--seed")
            good = number(value, o.seed);
        else if (key == "--count")
            good = number(value, o.count) && o.count > 0;
        else if (key == "--scale")
            good = number(value, o.scale);
        else if (key == "--seeds")
            good = range(value, o.seeds.first, o.seeds.last);
        else if (key == "--every")
            good = number(value, o.seeds.every) && o.seeds.every > 0;
        else if (key == "--seconds")
            good = seconds(value, o.seeds.time);
        else if (key == "--config")
            good = setting(value, o.config);
        else
            good = false;
        if (!good) return false;
    }
    return argc % 2 == 0 && !o.device.empty();
}

// Tells the parent process that all cases have run.
void finish() {
    if (harness::report() != nullptr) harness::report()->line("done");
}

// Runs the suite that `o` names. False: there is no such suite.
bool run(const Device& device, const Options& o, conformance::Tally& tally) {
    if (o.suite == "examples")
        conformance::run_examples(device, o.only, o.seed, o.scale, tally);
    else if (o.suite == "random")
        conformance::run_random(device, o.seeds, tally);
    else if (o.suite == "traps")
        conformance::run_traps(device, o.seeds, tally);
    else if (o.suite == "functions")
        conformance::run_functions(device, o.seeds, tally);
    else if (o.suite == "features")
        conformance::run_features(device, o.only, tally);
    else if (o.suite == "capabilities")
        conformance::run_capabilities(device, tally);
    else if (o.suite == "limits")
        conformance::run_limits(device, tally);
    else if (o.suite == "reference")
        conformance::run_reference(device, tally);
    else if (o.suite == "sweeps")
        conformance::run_sweeps(device, o.only, o.count, tally);
    else if (o.suite == "device")
        tally.add("the device opens through the library", "");
    else
        return false;
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    wye::sdk::open_standard_files();
    // A driver may end the process, so each line of output is written at once.
    std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
    Options options;
    if (!read(argc, argv, options)) {
        std::fputs(kUsage, stderr);
        return 2;
    }
    if (options.report != 0) harness::report_to(static_cast<int>(options.report));
    conformance::Tally tally(kRules, options.from, options.cases);
    const auto device = support::Device::open(options.device, options.config, options.plugin);
    if (!device.ok()) {
        if (tally.begin("the device opens through the library", "P-18"))
            tally.end(device.error().text());
        finish();
        std::printf("FAILED to open %s: %s\n0 passed, 1 failed\n", options.device.c_str(),
                    device.error().text().c_str());
        return 1;
    }
    std::printf("device %s\n", device->selector().c_str());
    if (harness::report() != nullptr) harness::report()->line("opened", {device->selector()});
    if (!run(*device, options, tally)) {
        std::fputs(kUsage, stderr);
        return 2;
    }
    finish();
    std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(tally.passed()),
                static_cast<unsigned long long>(tally.failed()));
    return tally.failed() == 0 && tally.passed() > 0 ? 0 : 1;
}
