// SPDX-License-Identifier: Apache-2.0
//
// Compares the device time of Wye programs with that of hand-written kernels on the same GPU, in
// one run.
#include <cstdio>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "kernel_bench/compile.hpp"
#include "kernel_bench/measure.hpp"
#include "kernel_bench/open_raw.hpp"

namespace wye::bench {
namespace {

constexpr double kGoal = 1.05;

struct Options {
    std::string devices;  // empty: the first GPU of each API on this machine
    std::string table = "both";
    std::string only;
    std::string json;
    std::string compile_child;
    bool tiny = false;
    double seconds = 0.3;
};

void print(const Row& row, bool judged) {
    if (!row.error.empty()) {
        fmt::print("  {:<14} {}\n", row.name, row.error);
        return;
    }
    const bool missed = judged && row.ratio > kGoal;
    fmt::print("  {:<14} {:>12.1f} {:>12.1f} {:>8.3f} {:>8}{}{}{}\n", row.name, row.wye_ns / 1e3,
               row.raw_ns / 1e3, row.ratio,
               row.traffic == 0
                   ? ""
                   : fmt::format("{:.0f}", static_cast<double>(row.traffic) / row.wye_ns),
               missed ? "  MISSED" : "",
               row.filled >= 4096 ? fmt::format("  zeroes {} KiB", row.filled / 1024) : "",
               row.agree < 1 ? fmt::format("  {:.2f} % agree", row.agree * 100) : "");
    std::fflush(stdout);
}

void run_table(const Options& options, bool fast, const std::string& selector, WyeSide& wye,
               RawApi& raw, std::vector<Row>& rows) {
    fmt::print("\n{} ({}), {}: device time, microseconds\n  {:<14} {:>12} {:>12} {:>8} {:>8}\n",
               selector, wye.device(),
               fast ? "against the fastest kernel (no limit)"
                    : "against the same arithmetic (at most 1.05)",
               "program", "wye", "raw", "ratio", "GB/s");
    for (const Case& c : cases(options.tiny)) {
        if (!options.only.empty() && c.program.find(options.only) == std::string::npos) continue;
        auto result = measure(c, fast, wye, raw, options.seconds);
        Row row;
        if (result.ok())
            row = *std::move(result);
        else
            row.error = result.error().text();
        row.name = c.name;
        row.device = selector;
        print(row, !fast && !options.tiny);
        rows.push_back(std::move(row));
        wye.clear();
        raw.clear();
    }
}

nlohmann::json to_json(const std::vector<Row>& rows) {
    auto out = nlohmann::json::array();
    for (const Row& row : rows)
        out.push_back({{"device", row.device},
                       {"program", row.name},
                       {"wye_ns", row.wye_ns},
                       {"raw_ns", row.raw_ns},
                       {"ratio", row.ratio},
                       {"traffic_bytes", row.traffic},
                       {"agree", row.agree},
                       {"filled_bytes", row.filled},
                       {"error", row.error}});
    return out;
}

// Returns the exit status. 0: all cases ran, and all bytes of the strict table were equal. 1: a
// case failed or differed. 3: there is no device, or a named device is missing.
int run(const Options& options) {
    std::vector<Row> strict, fast;
    bool left_out = false, failed = false, compiled = false;
    std::istringstream selectors(options.devices.empty() ? "cuda,vulkan,opencl" : options.devices);
    for (std::string selector; std::getline(selectors, selector, ',');) {
        const bool before = std::exchange(left_out, true);
        auto wye = WyeSide::open(selector, options.tiny || options.table == "compile");
        if (!wye.ok()) {
            fmt::print("\n{} is left out: {}\n", selector, wye.error().text());
            continue;
        }
        selector = (*wye)->selector();
        auto raw = open_raw(selector, (*wye)->device());
        if (!raw.ok()) {
            fmt::print("\n{} is left out, for its hand-written side: {}\n", selector,
                       raw.error().text());
            continue;
        }
        left_out = before;
        if (options.table == "compile") {
            wye->reset();
            raw->reset();
            const auto done = compile_table(selector, options.only);
            if (!done.ok()) fmt::print("\n{}: {}\n", selector, done.error().text());
            failed = failed || !done.ok();
            compiled = true;
            continue;
        }
        if (options.table != "price") run_table(options, false, selector, **wye, **raw, strict);
        if (options.table != "strict") run_table(options, true, selector, **wye, **raw, fast);
    }
    if (!options.json.empty()) {
        const nlohmann::json document = {{"strict", to_json(strict)}, {"price", to_json(fast)}};
        std::ofstream(options.json) << document.dump(2) << '\n';
    }
    if ((strict.empty() && fast.empty() && !compiled) || (left_out && !options.devices.empty()))
        return 3;
    for (const auto* rows : {&strict, &fast})
        for (const Row& row : *rows) failed = failed || !row.error.empty();
    return failed ? 1 : 0;
}

}  // namespace
}  // namespace wye::bench

int main(int argc, char** argv) {
    wye::bench::Options options;
    CLI::App app("Wye programs against hand-written kernels.", "kernel_bench");
    app.add_option(
        "--device", options.devices,
        "Selectors, separated by commas (default: the first GPU of CUDA, Vulkan, OpenCL)");
    app.add_option("--table", options.table, "strict, price, both, or compile")
        ->check(CLI::IsMember({"strict", "price", "both", "compile"}));
    app.add_option("--only", options.only, "Programs whose name has this in it");
    app.add_option("--json", options.json, "File for all figures");
    app.add_option("--seconds", options.seconds, "Of device time for each row");
    app.add_option("--compile-child", options.compile_child)->group("");
    app.add_flag("--tiny", options.tiny, "Sizes for a CPU: the bytes count, the times do not");
    CLI11_PARSE(app, argc, argv);
    if (options.compile_child.empty()) return wye::bench::run(options);
    const auto done =
        wye::bench::compile_child(options.devices, options.compile_child, options.only);
    if (!done.ok()) fmt::print(stderr, "{}\n", done.error().text());
    return done.ok() ? 0 : 1;
}
