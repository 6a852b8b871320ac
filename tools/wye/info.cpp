// SPDX-License-Identifier: Apache-2.0
//
// `wye info`: the catalogue for people (one screen), for scripts (-l) and for programs (--json).
// All three are views of the library's one JSON report.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "verbs.hpp"
#include "wye/wye.hpp"

namespace wye::tool {
namespace {

using Json = nlohmann::json;

// A text member; empty if it is absent or null.
std::string text(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

const Json& list(const Json& object, const char* key) {
    static const Json kEmpty = Json::array();
    const auto found = object.find(key);
    return found != object.end() && found->is_array() ? *found : kEmpty;
}

std::string size_text(std::uint64_t bytes) {
    constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
    constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
    if (bytes >= 10 * kGiB) return fmt::format("{} GiB", bytes / kGiB);
    if (bytes >= kGiB) return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / kGiB);
    return fmt::format("{} MiB", bytes / kMiB);
}

// The most important facts: units, memory, driver.
std::string summary(const Json& device) {
    const Json facts = device.value("facts", Json::object());
    std::string out;
    const auto add = [&](const std::string& part) {
        if (!part.empty()) out += (out.empty() ? "" : ", ") + part;
    };
    if (const auto units = facts.find("compute_units"); units != facts.end() && units->is_number())
        add(fmt::format("{} compute units", units->get<std::uint64_t>()));
    if (const auto memory = facts.find("memory_bytes");
        memory != facts.end() && memory->is_number())
        add(size_text(memory->get<std::uint64_t>()));
    add(text(facts, "isa"));
    return out;
}

// Prints why a plugin is not ready: the sentence, the loader's text, the remedy.
void print_reason(const Json& plugin) {
    const auto reason = plugin.find("reason");
    if (reason == plugin.end() || !reason->is_object()) return;
    for (const char* key : {"message", "loader_text", "fix"})
        if (const std::string line = text(*reason, key); !line.empty())
            fmt::print("             {}\n", line);
}

void print_plugins(const Json& report) {
    fmt::print("plugins\n");
    for (const Json& plugin : list(report, "plugins")) {
        const std::string path = text(plugin, "path");
        fmt::print("  {:<10} {:<8} {:<10} {}\n", text(plugin, "id"), text(plugin, "version"),
                   text(plugin, "state"), path.empty() ? "built in" : path);
        print_reason(plugin);
    }
}

void print_filters(const Json& report) {
    fmt::print("filters\n");
    bool any = false;
    for (const Json& filter : list(report, "filters")) {
        const std::string name = text(filter, "name");
        const std::string value = text(filter, "value");
        if (name == "selector" && value == "auto") continue;  // nothing is left out
        fmt::print("  {}={}\n", name, value);
        any = true;
    }
    if (!any) fmt::print("  none\n");
}

void print_devices(const Json& report) {
    fmt::print("devices\n");
    const Json& devices = list(report, "devices");
    if (devices.empty()) fmt::print("  none\n");
    std::size_t width = 8;
    for (const Json& device : devices) width = std::max(width, text(device, "selector").size());
    for (const Json& device : devices) {
        fmt::print("  {:<{}}  {}\n", text(device, "selector"), width, text(device, "name"));
        std::vector<std::string> formats;
        for (const Json& format : list(device, "formats"))
            if (format.is_string()) formats.push_back(format.get<std::string>());
        fmt::print("  {:<{}}  {}\n", "", width, summary(device));
        fmt::print("  {:<{}}  takes {}; id {}\n", "", width, fmt::join(formats, ", "),
                   text(device, "id"));
        if (const std::string reason = text(device, "reason"); !reason.empty())
            fmt::print("  {:<{}}  unusable: {} {}\n", "", width, reason, text(device, "fix"));
    }
}

// Their ids in backticks.
std::vector<std::string> failed_plugins(const Json& report) {
    std::vector<std::string> out;
    for (const Json& plugin : list(report, "plugins"))
        if (const std::string state = text(plugin, "state");
            state == "failed" || state == "refused")
            out.push_back(fmt::format("`{}`", text(plugin, "id")));
    return out;
}

bool usable(const Json& device) { return device.value("usable", false); }

}  // namespace

ExitCode info(const InfoOptions& options) {
    const auto context = Context::create();
    if (!context.ok()) return fail(context.error());
    const auto document = context->report(options.device);
    if (!document.ok()) return fail(document.error());
    const Json report = Json::parse(*document, nullptr, false);
    if (report.is_discarded())
        return fail(Error(Code::INTERNAL, "the library's report is not JSON", "Fix: report this"));

    if (options.json) {
        fmt::print("{}\n", *document);
    } else if (options.list) {
        for (const Json& device : list(report, "devices"))
            if (usable(device))
                fmt::print("{}\t{}\n", text(device, "selector"), text(device, "name"));
    } else {
        fmt::print("wye {}\n", wye_version());
        print_plugins(report);
        print_filters(report);
        print_devices(report);
    }
    if (const auto failed = failed_plugins(report); options.strict && !failed.empty()) {
        (void)fail(Error(Code::BAD_PLUGIN,
                         fmt::format("failed plugins: {}", fmt::join(failed, ", ")),
                         "Fix: follow the remedy that the report gives for each"));
        return kStrict;
    }
    if (std::ranges::any_of(list(report, "devices"), usable)) return kOk;
    return fail(
        Error(Code::NO_DEVICE,
              options.device.empty() ? "no device is usable"
                                     : fmt::format("no usable device matches `{}`", options.device),
              "Fix: run `wye info`, which gives the reason against each plugin and device"));
}

}  // namespace wye::tool
