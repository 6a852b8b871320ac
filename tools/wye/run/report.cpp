// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "command/output.hpp"

#include "wye/sdk/printable.hpp"
#include "wye/wye.hpp"

namespace wye::tool {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Returns the text on one line, without characters that control a terminal.
std::string shown(wye_string text) { return sdk::one_line(detail::view(text)); }

struct Counter {
    const char* name;
    std::uint64_t wye_counters::*member;
};

constexpr std::array<Counter, 24> kCounters = {{
    {"dispatches", &wye_counters::dispatches},
    {"dispatches_failed", &wye_counters::dispatches_failed},
    {"dispatches_repeated", &wye_counters::dispatches_repeated},
    {"submits", &wye_counters::submits},
    {"waits", &wye_counters::waits},
    {"polls", &wye_counters::polls},
    {"polls_ended", &wye_counters::polls_ended},
    {"bytes_uploaded", &wye_counters::bytes_uploaded},
    {"bytes_downloaded", &wye_counters::bytes_downloaded},
    {"bytes_copied", &wye_counters::bytes_copied},
    {"bytes_filled", &wye_counters::bytes_filled},
    {"buffers_made", &wye_counters::buffers_made},
    {"buffer_bytes", &wye_counters::buffer_bytes},
    {"peak_buffer_bytes", &wye_counters::peak_buffer_bytes},
    {"scratch_made", &wye_counters::scratch_made},
    {"programs_compiled", &wye_counters::programs_compiled},
    {"programs_loaded", &wye_counters::programs_loaded},
    {"programs_found", &wye_counters::programs_found},
    {"queues_made", &wye_counters::queues_made},
    {"queue_submits", &wye_counters::queue_submits},
    {"bytes_registered", &wye_counters::bytes_registered},
    {"bytes_across", &wye_counters::bytes_across},
    {"layouts_made", &wye_counters::layouts_made},
    {"layouts_shared", &wye_counters::layouts_shared},
}};
// All members of wye_counters except its header are listed.
static_assert(sizeof(wye_counters) ==
              sizeof(wye_header) + kCounters.size() * sizeof(std::uint64_t));

OrderedJson memory_json(const wye_memory_use& memory) {
    return {{"limit", memory.limit},
            {"context_limit", memory.context_limit},
            {"total", memory.total},
            {"buffers", memory.buffers},
            {"scratch", memory.scratch},
            {"scratch_idle", memory.scratch_idle},
            {"staging", memory.staging},
            {"staging_idle", memory.staging_idle},
            {"registered", memory.registered},
            {"programs", memory.programs},
            {"trims", memory.trims}};
}
// All members of wye_memory_use except its header are listed.
static_assert(sizeof(wye_memory_use) == sizeof(wye_header) + 11 * sizeof(std::uint64_t));

OrderedJson time_of(std::uint64_t ns) {
    return ns == WYE_TIME_UNKNOWN ? OrderedJson() : OrderedJson(ns);
}

const char* disk_text(std::uint32_t use) {
    if (use == WYE_DISK_HIT) return "hit";
    return use == WYE_DISK_MISS ? "miss" : "unused";
}

// Why a cooperative run was split, as codes and texts, from WYE_COOPERATIVE_SPLIT_DEVICE on.
struct SplitReason {
    const char* code;
    const char* text;
};
constexpr std::array<SplitReason, 4> kSplitReasons = {{
    {"device", "the device has no grid_sync"},
    {"format", "the code that the device takes has no grid barriers"},
    {"grid", "the grid exceeds the device's max_workgroups"},
    {"room", "not all workgroups run at once, as far as the driver says"},
}};

// Why the run was split; null: it was not split.
const SplitReason* split_reason(const wye_report& report) {
    if (report.cooperative < WYE_COOPERATIVE_SPLIT_DEVICE) return nullptr;
    return &kSplitReasons.at(report.cooperative - WYE_COOPERATIVE_SPLIT_DEVICE);
}

const char* cooperative_text(const wye_report& report) {
    if (report.cooperative == WYE_COOPERATIVE_NONE) return "none";
    return report.cooperative == WYE_COOPERATIVE_NATIVE ? "native" : "split";
}

const char* determinism_text(const wye_report& report) {
    constexpr std::array kNames = {"none", "yes", "not_proven", "beyond"};
    return kNames.at(report.determinism);
}

const char* why_text(std::uint32_t why) {
    constexpr std::array kNames = {"unmatched", "excluded",  "failed",   "unusable",
                                   "unfit",     "outranked", "not_tried"};
    return why < kNames.size() ? kNames[why] : "unknown";
}

OrderedJson repeat_json(const Repeated& repeated) {
    OrderedJson out = {{"count", repeated.how.count}, {"graph", nullptr}};
    if (repeated.how.graph)
        out["graph"] = {{"native", repeated.info.native != 0},
                        {"operations", repeated.info.operations},
                        {"recordings", repeated.info.recordings},
                        {"record_ns", repeated.record_ns}};
    return out;
}

}  // namespace

void print_counters(const Counted& counted) {
    for (const Counter& one : kCounters)
        fmt::print(stderr, "wye: {:<20} {}\n", one.name, counted.counters.*one.member);
    const wye_memory_use& memory = counted.memory;
    fmt::print(stderr,
               "wye: {:<20} {} in buffers, {} in scratch memory ({} idle), {} in staging memory "
               "({} idle), trimmed {} times\n",
               "memory", memory.buffers, memory.scratch, memory.scratch_idle, memory.staging,
               memory.staging_idle, memory.trims);
}

void print_choice(const wye_device_description& device,
                  const std::vector<wye_passed_over>& passed_over, std::string_view asked) {
    // Devices that were not needed, grouped by their reason.
    std::vector<std::pair<std::string, std::string>> spare;
    for (const wye_passed_over& one : passed_over) {
        const std::string name = shown(one.selector);
        const std::string reason = shown(one.reason);
        if (one.why == WYE_PASSED_OUTRANKED || one.why == WYE_PASSED_NOT_TRIED ||
            one.why == WYE_PASSED_EXCLUDED) {
            const auto same = std::ranges::find(spare, reason, &decltype(spare)::value_type::first);
            if (same == spare.end())
                spare.emplace_back(reason, name);
            else
                same->second += fmt::format(", {}", name);
            continue;
        }
        if (one.why == WYE_PASSED_FAILED &&
            asked.find(detail::view(one.selector)) == std::string_view::npos)
            continue;
        fmt::print(stderr, "wye: passed over {}: {}{}{}\n", name, reason,
                   one.fix.size == 0 ? "" : ". ", shown(one.fix));
    }
    for (const auto& [reason, names] : spare)
        fmt::print(stderr, "wye: passed over {}: {}\n", names, reason);
    fmt::print(stderr, "wye: picked {}: {}\n", shown(device.selector), shown(device.reason));
}

void print_line(const wye_program_description& program, const wye_device_description& device,
                const wye_report& report, const Repeated* repeated) {
    const bool graph = repeated != nullptr && repeated->how.graph;
    std::string form;
    if (report.variant != 0)
        form = fmt::format(" (variant {})", report.variant);
    else if (report.check_free != 0)
        form = " (check-free)";
    if (repeated != nullptr) form += fmt::format(" {} times", repeated->how.count);
    std::string what;
    if (graph)
        what = repeated->info.native != 0 ? ", as a native graph"
                                          : ", as a graph that is replayed operation by operation";
    else if (report.disk_cache == WYE_DISK_HIT)
        what = ", compiled before";
    else if (report.compiled != 0)
        what = ", compiled now";
    if (const SplitReason* reason = split_reason(report))
        what += fmt::format(", split at its grid barriers: {}", reason->text);
    else if (report.cooperative != WYE_COOPERATIVE_NONE)
        what += ", with all workgroups at once";
    if (report.determinism == WYE_DETERMINISM_BEYOND)
        what += ", beyond the launches that `wye check` says are deterministic";
    for (std::uint32_t bit = 0; bit < 64; ++bit)
        if ((report.native_functions >> bit & 1U) != 0)
            what += (what.find("native:") == std::string::npos ? ", native: " : ", ") +
                    std::string(wye_native_function_name(bit));
    fmt::print(stderr, "wye: ran `{}`{} on {} ({}), {} x {} x {} workgroups, {:.3f} ms{}\n",
               detail::view(program.name), form, shown(device.selector), shown(device.name),
               report.groups[0], report.groups[1], report.groups[2],
               static_cast<double>(report.wall_ns) / 1e6, what);
}

void print_json(const wye_program_description& program, const wye_device_description& device,
                const std::vector<wye_passed_over>& passed_over, const wye_report& report,
                const Repeated* repeated, const Counted* counted) {
    const bool graph = repeated != nullptr && repeated->how.graph;
    // Reports of graphs do not state which forms run.
    const auto form = [&](OrderedJson value) { return graph ? OrderedJson() : std::move(value); };
    OrderedJson losers = OrderedJson::array();
    for (const wye_passed_over& one : passed_over)
        losers.push_back({{"selector", detail::view(one.selector)},
                          {"why", why_text(one.why)},
                          {"reason", detail::view(one.reason)},
                          {"fix", one.fix.size == 0 ? OrderedJson() : detail::view(one.fix)}});
    OrderedJson natives = OrderedJson::array();
    for (std::uint32_t bit = 0; bit < 64; ++bit)
        if ((report.native_functions >> bit & 1U) != 0)
            natives.push_back(wye_native_function_name(bit));
    const SplitReason* const split = split_reason(report);
    OrderedJson out = {{"schema_version", 1},
                       {"program", detail::view(program.name)},
                       {"device", detail::view(device.selector)},
                       {"device_name", detail::view(device.name)},
                       {"device_reason", detail::view(device.reason)},
                       {"passed_over", std::move(losers)},
                       {"groups", {report.groups[0], report.groups[1], report.groups[2]}},
                       {"compiled", form(report.compiled != 0)},
                       {"disk_cache", form(disk_text(report.disk_cache))},
                       {"variant", form(report.variant)},
                       {"check_free", form(report.check_free != 0)},
                       {"native_functions", form(std::move(natives))},
                       {"cooperative", cooperative_text(report)},
                       {"split_because", split ? OrderedJson(split->code) : OrderedJson()},
                       {"determinism", determinism_text(report)},
                       {"wall_ns", time_of(report.wall_ns)},
                       {"device_ns", time_of(report.device_ns)},
                       {"enqueue_ns", time_of(report.enqueue_ns)},
                       {"wait_ns", time_of(report.wait_ns)},
                       {"bytes_uploaded", report.bytes_uploaded},
                       {"bytes_downloaded", report.bytes_downloaded},
                       {"bytes_filled", report.bytes_filled},
                       {"bytes_copied", report.bytes_copied}};
    if (repeated != nullptr) out["repeat"] = repeat_json(*repeated);
    if (counted != nullptr) {
        OrderedJson& list = out["counters"] = OrderedJson::object();
        for (const Counter& one : kCounters) list[one.name] = counted->counters.*one.member;
        out["memory"] = memory_json(counted->memory);
    }
    fmt::print(output(), "{}\n", out.dump(2, ' ', true, OrderedJson::error_handler_t::replace));
}

}  // namespace wye::tool
