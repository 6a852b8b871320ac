// SPDX-License-Identifier: Apache-2.0
//
// `wye bench`: measures what a dispatch, a graph and a transfer cost on a device, and the same work
// through the device's own API.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <new>
#include <span>
#include <sstream>

#include "command/files.hpp"
#include "command/helper_options.hpp"
#include "command/output.hpp"
#include "command/progress.hpp"
#include "raw.hpp"
#include "report.hpp"
#include "wye/sdk/standard_files.hpp"

namespace {

using namespace wye::bench;

enum Exit { kOk = 0, kFailed = 1, kUsage = 2, kNoDevice = 3 };

using Options = wye::tool::BenchOptions;

int fail(const wye::Error& error) {
    std::fprintf(stderr, "wye bench: error: %s\n", error.text().c_str());
    switch (error.code) {
        case wye::Code::NO_DEVICE:
        case wye::Code::MISSING_DEPENDENCY:
            return kNoDevice;
        case wye::Code::INVALID_ARGUMENT:
        case wye::Code::NOT_FOUND:
            return kUsage;
        default:
            return kFailed;
    }
}

wye::Result<std::vector<const Row*>> rows_of(const std::vector<std::string>& names) {
    std::vector<const Row*> out;
    for (const std::string& name : names) {
        const Row* const row = find_row(name);
        if (row == nullptr)
            return wye::Error(wye::Code::INVALID_ARGUMENT,
                              fmt::format("there is no row named `{}`", name),
                              "Fix: see `wye bench --list`", name);
        out.push_back(row);
    }
    if (out.empty())
        for (const Row& row : all_rows()) out.push_back(&row);
    return out;
}

// The raw side of a device, or the reason why there is none.
struct Baseline {
    std::unique_ptr<RawApi> api;
    std::string reason;
};

Baseline open_baseline(const Target& target) {
    auto api = open_raw(target.plugin, target.name);
    if (!api.ok()) return {nullptr, api.error().text()};
    return {std::move(api).value(), {}};
}

// Measures Wye's way and the raw ways. If the raw side fails, the row only lacks a baseline.
wye::Result<void> measure_row(const Way& wye, Baseline* baseline, const Sizes& sizes,
                              const Effort& effort, RowResult& out) {
    std::vector<Way> ways = {wye};
    out.wye_way = wye.name;
    if (baseline != nullptr) {
        out.no_baseline = baseline->reason;
        if (baseline->api) {
            auto raw = raw_ways(*baseline->api, out.row->id, sizes);
            if (!raw.ok())
                out.no_baseline = raw.error().text();
            else
                ways.insert(ways.end(), raw->begin(), raw->end());
        }
    }
    auto samples = measure(ways, effort);
    if (!samples.ok() && ways.size() > 1) {
        out.no_baseline = samples.error().text();
        ways.resize(1);
        samples = measure(ways, effort);
    }
    if (!samples.ok()) {
        out.no_baseline.clear();
        return std::move(samples).error();
    }
    out.wye = samples->front();
    for (std::size_t i = 1; i < ways.size(); ++i) out.raw.push_back({ways[i].name, (*samples)[i]});
    return {};
}

// Measures a row. Returns nullopt if this kind of device does not have the row.
std::optional<RowResult> run_row(const Target& target, const Row& row, Baseline* baseline,
                                 const Options& options) {
    const Sizes sizes = sizes_of(options.quick, target.soft, target.most_bytes);
    RowResult out;
    out.row = &row;
    out.work = work_of(row.id, sizes);
    out.goal = goal_of(row.id, target.plugin, target.soft);
    if (row.id == RowId::Million) {
        auto stream = run_stream(target, sizes);
        if (stream.ok())
            out.stream = *stream;
        else
            out.error = stream.error();
        return out;
    }
    const auto wye = wye_way(target, row.id, sizes);
    if (!wye.ok()) {
        out.error = wye.error();
        return out;
    }
    if (!*wye) return std::nullopt;
    const auto measured = measure_row(**wye, baseline, sizes, effort_of(options.quick), out);
    if (!measured.ok()) out.error = measured.error();
    return out;
}

int run(const Options& options) {
    const auto rows = rows_of(options.names);
    if (!rows.ok()) return fail(rows.error());
    if (options.list) {
        for (const Row* row : *rows)
            fmt::print(wye::tool::output(), "{:<15} {}\n", row->name, row->what);
        return kOk;
    }
    wye::tool::keep_output();
    wye::tool::StagedOutputs staged;
    if (!options.json.empty()) {
        if (const auto good = wye::tool::check_files({{"--json", options.json, true}}); !good.ok())
            return fail(good.error());
        if (const auto opened = staged.open(options.json); !opened.ok())
            return fail(opened.error());
    }
    const auto target = open_target(options.device);
    if (!target.ok()) return fail(target.error());
    Report report{target->selector, target->name,        target->plugin,
                  options.quick,    options.against_raw, {}};
    Baseline baseline;
    if (options.against_raw) baseline = open_baseline(*target);
    print_heading(report);
    if (!baseline.reason.empty())
        fmt::print(wye::tool::output(), "no baseline: {}\n", baseline.reason);
    int code = kOk;
    wye::tool::Progress progress("rows", rows->size());
    for (std::size_t done = 0; const Row* row : *rows) {
        progress.at(done++);
        auto result = run_row(*target, *row, options.against_raw ? &baseline : nullptr, options);
        progress.hide();
        if (!result) {
            if (!options.names.empty())
                fmt::print(wye::tool::output(), "{:<15} {} does not have this row\n", row->name,
                           target->selector);
            continue;
        }
        print_row(*result);
        if (!result->no_baseline.empty() && result->no_baseline != baseline.reason)
            fmt::print(wye::tool::output(), "{:<15} no baseline: {}\n", "", result->no_baseline);
        if (result->error) {
            (void)fail(*result->error);
            code = kFailed;
        }
        report.rows.push_back(std::move(*result));
    }
    if (options.json.empty()) return code;
    const std::string text = json_of(report);
    if (const auto written = staged.write(0, std::as_bytes(std::span(text))); !written.ok())
        return fail(written.error());
    if (const auto done = staged.commit(); !done.ok()) return fail(done.error());
    return code;
}

int real_main(int argc, char** argv) {
    CLI::App app("Measure dispatches, graphs and transfers on a device.", "wye bench");
    Options options;
    wye::tool::prepare_command(app);
    wye::tool::add_bench(app, options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        std::ostringstream out, err;
        if (app.exit(error, out, err) == 0) {
            fmt::print(wye::tool::output(), "{}", out.str());
            return kOk;
        }
        std::fprintf(stderr, "wye bench: error: %s\nFix: see `wye bench --help`\n",
                     wye::tool::usage_fault(error).c_str());
        return kUsage;
    }
    return run(options);
}

}  // namespace

int main(int argc, char** argv) {
    wye::sdk::open_standard_files();
    try {
        const int code = real_main(argc, argv);
        if (std::fflush(wye::tool::output()) == 0 && std::ferror(wye::tool::output()) == 0)
            return code;
        std::fputs(
            "wye bench: error: cannot write to standard output\nFix: check where standard output "
            "goes\n",
            stderr);
        return code == kOk ? static_cast<int>(kFailed) : code;
    } catch (const std::bad_alloc&) {
        std::fputs(
            "wye bench: error: there is no memory left\nFix: free memory, or name fewer rows\n",
            stderr);
        return kFailed;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "wye bench: error: %s\nFix: check where standard output goes\n",
                     error.what());
        return kFailed;
    }
}
