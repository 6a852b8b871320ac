// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <fmt/format.h>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "command/output.hpp"
#include "ring.hpp"
#include "wye/sdk/words.hpp"

namespace wye::bench {
namespace {

using Json = nlohmann::ordered_json;

double item_ns(const RowResult& row, double run_ns) {
    return run_ns / static_cast<double>(row.work.items);
}
double gigabytes(const RowResult& row, double run_ns) {
    return static_cast<double>(row.work.bytes) / run_ns;
}

std::string time_text(double ns) {
    if (ns < 999.5) return fmt::format("{:.1f} ns", ns);
    if (ns < 999.5e3) return fmt::format("{:.2f} us", ns / 1e3);
    return fmt::format("{:.2f} ms", ns / 1e6);
}

std::string value_text(const RowResult& row, double run_ns) {
    if (row.row->unit == Unit::Bytes) return fmt::format("{:.2f} GB/s", gigabytes(row, run_ns));
    return time_text(item_ns(row, run_ns));
}

std::string goal_text(const Goal& goal) {
    switch (goal.kind) {
        case Goal::Kind::None:
            break;
        case Goal::Kind::Ratio:
            return fmt::format("<= {:.2f}", goal.value);
        case Goal::Kind::Nanoseconds:
            return fmt::format("<= {:.0f} ns", goal.value);
        case Goal::Kind::Gigabytes:
            return fmt::format(">= {:.1f} GB/s", goal.value);
        case Goal::Kind::Growth:
            return fmt::format("+{:.0f} MiB", goal.value / (1 << 20));
    }
    return "-";
}

std::string_view goal_kind(Goal::Kind kind) {
    constexpr std::string_view kNames[] = {"none", "ratio_at_most", "item_ns_at_most",
                                           "gb_per_s_at_least", "growth_bytes_at_most"};
    return sdk::name_in(kNames, kind);
}

void print_line(std::string_view name, std::string_view wye, std::string_view raw,
                std::string_view ratio, std::string_view goal, std::string_view verdict) {
    fmt::print(tool::output(), "{:<15} {:>12} {:>12} {:>6}  {:<12} {}\n", name, wye, raw, ratio,
               goal, verdict);
}

void print_stream(const RowResult& row) {
    const Stream& s = *row.stream;
    print_line(row.row->name, time_text(s.nanoseconds), "-", "-", goal_text(row.goal),
               verdict_text(verdict_of(row)));
    constexpr double kKiB = 1024;
    fmt::print(
        tool::output(),
        "{:<15} {} dispatches: resident memory {:+.0f} KiB, device memory {:+.0f} KiB, "
        "{} buffers made\n",
        "", s.dispatches,
        (static_cast<double>(s.resident_bytes[1]) - static_cast<double>(s.resident_bytes[0])) /
            kKiB,
        (static_cast<double>(s.buffer_bytes[1]) - static_cast<double>(s.buffer_bytes[0])) / kKiB,
        s.buffers_made[1] - s.buffers_made[0]);
}

Json side_of(const RowResult& row, const std::string& way, const Samples& samples) {
    const double run = median(samples);
    Json out = {{"way", way}, {"run_ns", run}, {"item_ns", item_ns(row, run)}};
    if (row.work.bytes != 0) out["gb_per_s"] = gigabytes(row, run);
    out["samples_ns"] = samples;
    return out;
}

Json stream_of(const Stream& s) {
    return {{"dispatches", s.dispatches},         {"item_ns", s.nanoseconds},
            {"resident_bytes", s.resident_bytes}, {"buffer_bytes", s.buffer_bytes},
            {"buffers_made", s.buffers_made},     {"growth_bytes", s.growth()}};
}

Json row_json(const RowResult& row) {
    Json out = {{"name", row.row->name},
                {"what", row.row->what},
                {"items", row.work.items},
                {"bytes", row.work.bytes},
                {"goal", {{"kind", goal_kind(row.goal.kind)}, {"value", row.goal.value}}},
                {"verdict", verdict_text(verdict_of(row))}};
    if (!row.wye.empty()) out["wye"] = side_of(row, row.wye_way, row.wye);
    if (!row.raw.empty()) out["ratio"] = ratio_of(row.wye, row.raw.front().samples);
    out["raw"] = Json::array();
    for (const RowResult::Raw& raw : row.raw) {
        Json one = side_of(row, raw.way, raw.samples);
        one["ratio"] = ratio_of(row.wye, raw.samples);
        out["raw"].push_back(std::move(one));
    }
    if (row.stream) out["stream"] = stream_of(*row.stream);
    if (!row.no_baseline.empty()) out["no_baseline"] = row.no_baseline;
    if (row.error) out["error"] = {{"message", row.error->message}, {"fix", row.error->fix}};
    return out;
}

}  // namespace

Verdict verdict_of(const RowResult& row) {
    if (row.error) return Verdict::Failed;
    const auto met = [](bool good) { return good ? Verdict::Met : Verdict::Missed; };
    const double run = median(row.wye);
    switch (row.goal.kind) {
        case Goal::Kind::None:
            break;
        case Goal::Kind::Ratio:
            if (row.raw.empty()) return Verdict::NoBaseline;
            return met(ratio_of(row.wye, row.raw.front().samples) <= row.goal.value);
        case Goal::Kind::Nanoseconds:
            return met(item_ns(row, run) <= row.goal.value);
        case Goal::Kind::Gigabytes:
            return met(gigabytes(row, run) >= row.goal.value);
        case Goal::Kind::Growth:
            return met(row.stream && row.stream->growth() <= row.goal.value);
    }
    return Verdict::NoGoal;
}

std::string_view verdict_text(Verdict verdict) {
    constexpr std::string_view kNames[] = {"no goal", "met", "missed", "no baseline", "failed"};
    return sdk::name_in(kNames, verdict);
}

void print_heading(const Report& report) {
    fmt::print(tool::output(), "{} ({}), {} processors, {} copying threads on the raw side{}\n",
               report.selector, report.name, std::thread::hardware_concurrency(), ring_threads(),
               report.quick ? ", small sizes: not for comparison" : "");
    print_line("row", "Wye", "raw", "ratio", "goal", "verdict");
    std::fflush(tool::output());
}

void print_row(const RowResult& row) {
    const std::string_view verdict = verdict_text(verdict_of(row));
    if (row.error) {
        print_line(row.row->name, "-", "-", "-", goal_text(row.goal), verdict);
    } else if (row.stream) {
        print_stream(row);
    } else if (row.raw.empty()) {
        print_line(row.row->name, value_text(row, median(row.wye)), "-", "-", goal_text(row.goal),
                   verdict);
    } else {
        for (const RowResult::Raw& raw : row.raw) {
            const bool first = &raw == &row.raw.front();
            const std::string ratio = fmt::format("{:.2f}", ratio_of(row.wye, raw.samples));
            print_line(first ? row.row->name : "",
                       first ? value_text(row, median(row.wye)) : std::string(),
                       value_text(row, median(raw.samples)), ratio,
                       first ? goal_text(row.goal) : std::string(),
                       first ? fmt::format("{:<11} raw: {}", verdict, raw.way)
                             : fmt::format("{:<11} raw: {}", "", raw.way));
        }
    }
    std::fflush(tool::output());
}

std::string json_of(const Report& report) {
    Json out = {{"schema_version", 1},
                {"wye_version", wye_version()},
                {"device",
                 {{"selector", report.selector}, {"name", report.name}, {"plugin", report.plugin}}},
                {"processors", std::thread::hardware_concurrency()},
                {"quick", report.quick},
                {"against_raw", report.against_raw},
                {"rows", Json::array()}};
    for (const RowResult& row : report.rows) out["rows"].push_back(row_json(row));
    return out.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace wye::bench
