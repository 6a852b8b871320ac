// SPDX-License-Identifier: Apache-2.0
//
// `wye cache`: lists and clears the disk cache of compiled programs, and the self-test verdicts
// that plugins keep. Opens no plugin.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "verbs.hpp"
#include "wye/sdk/printable.hpp"
#include "wye/wye.hpp"

namespace wye::tool {
namespace {

using Json = nlohmann::json;

std::string bytes_text(std::uint64_t bytes) {
    if (bytes < 1024) return fmt::format("{} B", bytes);
    const double kib = static_cast<double>(bytes) / 1024;
    return kib < 1024 ? fmt::format("{:.1f} KiB", kib) : fmt::format("{:.1f} MiB", kib / 1024);
}

std::string age_since(std::int64_t used_unix_ns) {
    const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
    const std::int64_t minutes = (now - used_unix_ns) / 60'000'000'000;
    if (minutes < 1) return "now";
    if (minutes < 60) return fmt::format("{} min", minutes);
    if (minutes < 48 * 60) return fmt::format("{} h", minutes / 60);
    return fmt::format("{} days", minutes / (24 * 60));
}

std::string line_of(const Json& entry, const char* name) {
    return sdk::one_line(entry.value(name, ""));
}

// Joins the lines of a key to one line.
std::string joined(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    return sdk::one_line(text);
}

void print_size(const Json& report) {
    fmt::print("folder   {}\n", line_of(report, "folder"));
    if (!report.value("usable", false)) fmt::print("off      {}\n", line_of(report, "trouble"));
    std::uint64_t kept_bytes = 0;
    const Json kept = report.value("kept", Json::array());
    for (const Json& one : kept) kept_bytes += one.value("bytes", std::uint64_t{0});
    fmt::print("size     {} of {}, {} entries\n",
               bytes_text(report.value("bytes", std::uint64_t{0})),
               bytes_text(report.value("limit_bytes", std::uint64_t{0})),
               report.value("entries", Json::array()).size());
    fmt::print("kept     {} of self-test verdicts, {} files\n", bytes_text(kept_bytes),
               kept.size());
    const auto count = [&](const char* name) { return report.value(name, std::uint64_t{0}); };
    fmt::print("hits     {}\nmisses   {}\nstored   {}\nevicted  {}\ndamaged  {}\n", count("hits"),
               count("misses"), count("stored"), count("evicted"), count("damaged"));
}

void print_list(const Json& report) {
    for (const Json& entry : report.value("entries", Json::array()))
        fmt::print("{:<20} {:<8} {:<13} {:>10} {:>8}  {}\n", line_of(entry, "program"),
                   line_of(entry, "plugin"), line_of(entry, "format"),
                   bytes_text(entry.value("bytes", std::uint64_t{0})),
                   age_since(entry.value("used_unix_ns", std::int64_t{0})),
                   line_of(entry, "device"));
    for (const Json& one : report.value("kept", Json::array()))
        fmt::print("{:<43} {:>10} {:>8}  {}\n", line_of(one, "kind"),
                   bytes_text(one.value("bytes", std::uint64_t{0})),
                   age_since(one.value("made_unix_ns", std::int64_t{0})),
                   one.value("sound", false) ? joined(one.value("key", "")) : "damaged");
}

}  // namespace

ExitCode cache(const CacheOptions& options) {
    const auto context = Context::create({.flags = WYE_CONTEXT_NO_PLUGINS});
    if (!context.ok()) return fail(context.error());
    if (options.action == "clear") {
        const auto freed = context->clear_cache();
        if (!freed.ok()) return fail(freed.error());
        fmt::print("freed {}\n", bytes_text(*freed));
        return kOk;
    }
    const auto document = context->cache_report();
    if (!document.ok()) return fail(document.error());
    if (options.json) {
        fmt::print("{}\n", *document);
        return kOk;
    }
    const Json report = Json::parse(*document, nullptr, false);
    if (report.is_discarded())
        return fail(Error(Code::INTERNAL, "the library's report is not JSON", "Fix: report this"));
    if (options.action == "list")
        print_list(report);
    else
        print_size(report);
    return kOk;
}

}  // namespace wye::tool
