// SPDX-License-Identifier: Apache-2.0
//
// The conformance kit of the plugin contract, which `wye conform` runs as a child:
//
//     wye-conform-abi PLUGIN.so [--layer LAYER.so]... [--device N] [--config KEY=VALUE]...
//                     [--test-suite=plugin,memory ...]
//
// `--layer` puts a layer over the plugin; the first one is nearest to the kit. `--device`: the
// index of the device that cases open (default 0). `--config` sets the configuration of the host.
// `--report FD` writes the lines of report.hpp to that descriptor. With `--report`, `--from N`
// skips the first N cases, and `--cases N` runs at most N of the following ones.
// Other options are doctest's (`--help` lists them).
// Exit status: 0 all passed, 1 something failed, 2 wrong usage.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/abi/borrowed.hpp"
#include "conformance/abi/harness.hpp"
#include "conformance/abi/report.hpp"
#include "conformance/abi/watch.hpp"
#include "wye/sdk/standard_files.hpp"

namespace {

harness::Subject& chosen() {
    static harness::Subject value;
    return value;
}

std::optional<std::uint32_t> number(std::string_view text) {
    std::uint32_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return out;
}

void add_setting(std::string_view setting) {
    const std::size_t equals = setting.find('=');
    chosen().config.emplace(setting.substr(0, equals),
                            equals == setting.npos ? "" : setting.substr(equals + 1));
}

int wrong(const char* what) {
    std::fprintf(stderr, "wye-conform-abi: %s\n", what);
    return 2;
}

}  // namespace

const harness::Subject& harness::subject() { return chosen(); }

int main(int argc, char** argv) {
    wye::sdk::open_standard_files();
    std::vector<const char*> rest = {argv[0]};
    std::optional<std::uint32_t> report;
    std::uint32_t from = 0;
    std::optional<std::uint32_t> cases;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        const bool own = word == "--config" || word == "--device" || word == "--layer" ||
                         word == "--report" || word == "--from" || word == "--cases";
        if (!own) {
            if (!word.starts_with("-") && chosen().library == nullptr)
                chosen().library = argv[i];
            else
                rest.push_back(argv[i]);
            continue;
        }
        if (i + 1 == argc) return wrong("an option lacks its value. Fix: give it one");
        const std::string_view value = argv[++i];
        if (word == "--config") {
            add_setting(value);
            continue;
        }
        if (word == "--layer") {
            chosen().layers.push_back(argv[i]);
            continue;
        }
        const auto read = number(value);
        if (!read) return wrong("an option's value is no number. Fix: give it one");
        if (word == "--report")
            report = *read;
        else if (word == "--cases")
            cases = *read;
        else
            (word == "--device" ? chosen().device : from) = *read;
    }
    const std::string first = "--first=" + std::to_string(from + 1);
    const std::string last = "--last=" + std::to_string(from + cases.value_or(0));
    if (report) {
        harness::report_to(static_cast<int>(*report));
        rest.insert(rest.end(), {"--reporters=conform", "--no-intro", first.c_str()});
        if (cases) rest.push_back(last.c_str());
    }
    harness::watch_borrowed();
    const harness::ProcessWatch before_loading;
    doctest::Context context(static_cast<int>(rest.size()), rest.data());
    if (chosen().library == nullptr && !context.shouldExit())
        return wrong("no plugin named. Fix: wye-conform-abi PLUGIN.so");
    return context.run();
}
