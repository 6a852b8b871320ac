// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "views.hpp"

namespace wye::tool {
namespace {

constexpr std::size_t kNameWidth = 26;

std::string line(const Style& style, std::string_view name, std::string_view value) {
    return wrapped(style, "  " + padded(clean(name), kNameWidth) + ' ', value);
}

// Why the host does not know a fact, and the consequence.
std::string why_unknown(const Report& device, const std::string& name) {
    const std::string reason = text(fields(device, "fact_reasons"), name.c_str());
    if (reason == "unknown") return "the plugin is older than this fact";
    if (reason == "bad_answer") return "the plugin answered with a wrong type, or failed";
    const auto starts = [&](std::string_view with) { return name.starts_with(with); };
    if (starts("max_workgroup")) return "not reported by the driver; counts as 1";
    if (starts("max_")) return "not reported by the driver; its own limit applies";
    if (starts("native_") || starts("ieee_") || starts("keeps_") || starts("folds_") ||
        name.ends_with("_mode"))
        return "not reported or not tested; taken for no";
    return "not reported by the driver";
}

std::string fact_text(const std::string& name, const Report& value) {
    std::string out = value_text(value);
    const bool size = name.ends_with("_bytes") && name != "shared_bank_bytes";
    if (size && value.is_number_unsigned() && value.get<std::uint64_t>() >= 1024)
        out += fmt::format(" ({})", size_text(value.get<std::uint64_t>()));
    return out;
}

// The facts that at least one device reports.
using Reported = std::set<std::string>;

std::string facts_text(const Report& device, const Reported& known, const Style& style) {
    std::string out;
    std::map<std::string, std::string> unknown;  // names of facts, by reason
    for (const auto& [name, value] : fields(device, "facts").items()) {
        if (value.is_null()) {
            if (!known.contains(name)) continue;
            std::string& names = unknown[why_unknown(device, name)];
            names += (names.empty() ? "" : ", ") + name;
            continue;
        }
        std::string shown = fact_text(name, value);
        const std::string source = text(fields(device, "fact_sources"), name.c_str());
        if (!source.empty()) shown += fmt::format("  [{}]", source);
        out += line(style, name, shown);
    }
    for (const auto& [why, names] : unknown)
        out += line(style, "unknown", fmt::format("{}: {}", why, names));
    return out;
}

Reported known_facts(const Report& report) {
    Reported out;
    for (const Report& device : items(report, "devices"))
        for (const auto& [name, value] : fields(device, "facts").items())
            if (!value.is_null()) out.insert(name);
    return out;
}

// How many facts no device reports.
std::size_t unknown_facts(const Report& report, const Reported& known) {
    std::set<std::string> out;
    for (const Report& device : items(report, "devices"))
        for (const auto& [name, value] : fields(device, "facts").items())
            if (!known.contains(name)) out.insert(name);
    return out.size();
}

std::string list_text(const Report& object, const char* key) {
    const std::vector<std::string> all = texts(object, key);
    std::string out;
    for (const std::string& one : all) out += (out.empty() ? "" : ", ") + one;
    return all.empty() ? "none" : out;
}

// A text such as "opencl:0 (PCI address, certain)".
std::string alias_text(const Report& alias) {
    if (!alias.is_object()) return value_text(alias);
    std::string why = text(alias, "evidence");
    if (const std::string sure = text(alias, "confidence"); !sure.empty())
        why += (why.empty() ? "" : ", ") + sure;
    const std::string name = text(alias, "selector");
    return why.empty() ? name : fmt::format("{} ({})", name, why);
}

std::string device_text(const Report& report, const Report& device, const Reported& known,
                        const Style& style) {
    const std::string selector = text(device, "selector");
    std::string out =
        wrapped(style, ink(style, Ink::name, clean(selector)) + "  ", text(device, "name"));
    const bool picked = selector == text(report, "picks");
    out += line(style, "id", text(device, "id"));
    if (const std::string physical = text(device, "physical_id"); !physical.empty())
        out += line(style, "physical id", physical);
    out += line(style, "plugin", text(device, "plugin"));
    out += line(style, "usable",
                usable(device) ? (picked ? "yes, and picked" : "yes")
                               : "no: " + with_remedy(text(device, "reason"), text(device, "fix")));
    for (const Report& alias : items(device, "aliases"))
        out += line(style, "same as", alias_text(alias));
    out += line(style, "takes", list_text(device, "formats"));
    out += line(style, "quirks", list_text(device, "quirks"));
    return out + facts_text(device, known, style) + '\n';
}

// The parts of a record, one per line.
std::string reason_lines(const Report& report, const Report& reason, const Style& style) {
    std::string out;
    for (const char* key : {"stage", "code", "message", "loader_text", "missing_library"})
        if (const std::string value = text(reason, key); !value.empty())
            out += line(style, key, value);
    if (const std::string fix = remedy(report, reason); !fix.empty())
        out += line(style, "fix", fix);
    return out;
}

// "NVRTC 13.0 /usr/lib/libnvrtc.so.13", without the numbers that tell one build from another.
std::string short_compiler(std::string text) {
    const auto is_number = [](std::string_view word) {
        return !word.empty() && word.find_first_not_of("0123456789.") == word.npos;
    };
    while (text.find('/') != text.npos) {
        const std::size_t last = text.rfind(' ');
        if (last == text.npos || !is_number(std::string_view(text).substr(last + 1))) break;
        text.resize(last);
    }
    return text;
}

// A text such as "good, remembered from 2026-11-24T16:16:14Z, took 2707 ms (devices listed after
// 310 ms, ...)".
std::string probe_text(const Report& probe) {
    std::string out = text(probe, "end");
    if (const std::string slot = text(probe, "slot"); !slot.empty()) out += " in " + slot;
    if (const auto times = number(probe, "times"); times && *times > 1)
        out += fmt::format(", {} times", *times);
    out += fmt::format(", {} {}", flag(probe, "remembered") ? "remembered from" : "made",
                       time_text(number(probe, "made_unix_ns").value_or(0)));
    const auto ms = [&](const char* key) { return number(probe, key).value_or(0) / 1'000'000; };
    return out + fmt::format(", took {} ms (devices listed after {} ms, first dispatch {} ms)",
                             ms("took_ns"), ms("listed_ns"), ms("dispatch_ns"));
}

std::string plugin_text(const Report& report, const Report& plugin, const Style& style) {
    std::string id = text(plugin, "id");
    if (id.empty()) id = "(no id)";
    std::string path = text(plugin, "path");
    // A built-in plugin has no path, and a refused candidate may have none.
    if (path.empty()) path = text(plugin, "source") == "builtin" ? "built in" : "(no path)";
    std::string out = wrapped(style, ink(style, Ink::name, clean(id)) + "  ",
                              fmt::format("{} {}", text(plugin, "version"), path));
    out += line(style, "state", state_text(report, plugin));
    if (const std::string from = text(plugin, "source"); !from.empty())
        out += line(style, "found in", from);
    if (const std::string vendor = text(plugin, "vendor"); !vendor.empty())
        out += line(style, "vendor", vendor);
    if (const std::string compiler = text(plugin, "compiler"); !compiler.empty())
        out += line(style, flag(plugin, "compiler_only") ? "compiler only" : "compiler",
                    short_compiler(compiler));
    if (const Report& probe = fields(plugin, "probe"); !probe.empty())
        out += line(style, "probe", probe_text(probe));
    out += reason_lines(report, fields(plugin, "reason"), style);
    return out + '\n';
}

std::string record_text(const Report& report, const Report& record, const Style& style) {
    std::string subject = text(record, "plugin");
    if (subject.empty()) subject = "(no plugin)";
    std::string out =
        wrapped(style, ink(style, Ink::name, clean(subject)) + "  ", severity_text(report, record));
    if (const std::string path = text(record, "path"); !path.empty())
        out += line(style, "path", path);
    return out + reason_lines(report, record, style) + '\n';
}

}  // namespace

std::string detail_view(const Report& report, const Style& style) {
    const auto heading = [&](const char* name) { return ink(style, Ink::heading, name) + "\n\n"; };
    std::string out = heading("devices");
    const Reported known = known_facts(report);
    for (const Report& device : items(report, "devices"))
        out += device_text(report, device, known, style);
    if (const std::size_t count = unknown_facts(report, known); count != 0)
        out += wrapped(style, "  ",
                       fmt::format("{} that no device here reports {} left out; `wye info --json` "
                                   "has the reasons",
                                   count_text(count, "fact"), count == 1 ? "is" : "are")) +
               '\n';
    out += heading("plugins");
    for (const Report& plugin : items(report, "plugins")) out += plugin_text(report, plugin, style);
    if (const Report& layers = items(report, "layers"); !layers.empty()) {
        out += heading("layers");
        for (const Report& layer : layers)
            out += wrapped(style, ink(style, Ink::name, clean(text(layer, "name"))) + "  ",
                           text(layer, "version") + ' ' + text(layer, "path"));
        out += '\n';
    }
    if (const Report& records = items(report, "records"); !records.empty()) {
        out += heading("records");
        for (const Report& record : records) out += record_text(report, record, style);
    }
    if (const std::string variables = environment_view(report, false, style); !variables.empty())
        out += heading("variables") + variables + '\n';
    out += heading("host");
    for (const auto& [name, value] : fields(report, "host").items())
        if (value.is_primitive()) out += line(style, name, value_text(value));
    return out;
}

}  // namespace wye::tool
