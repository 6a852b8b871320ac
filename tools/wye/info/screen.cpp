// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "views.hpp"

namespace wye::tool {
namespace {

constexpr std::size_t kMostProblems = 8;  // further problems are only counted

// "OpenCL 3.0" for "OpenCL 3.0 PoCL HSTR: ...".
std::string short_version(const std::string& version) {
    const std::size_t name = version.find(' ');
    if (name == version.npos) return version;
    return version.substr(0, version.find(' ', name + 1));
}

// A text such as "21 GiB of 23 GiB free 3 min ago".
std::string memory_text(const Report& device) {
    const Report& facts = fields(device, "facts");
    const auto total = number(facts, "memory_bytes");
    const auto free = number(facts, "free_memory_bytes");
    if (!total) return {};
    if (!free) return size_text(*total);
    std::string out = fmt::format("{} of {} free", size_text(*free), size_text(*total));
    const std::uint64_t age = number(device, "free_memory_age_ms").value_or(0);
    if (age >= 1000) out += fmt::format(" {} ago", age_text(age));
    return out;
}

// Why `selector` is the same physical device as `main`, as a text such as "the same device, likely
// (the same processor model ...)".
std::string alias_text(const Report& main, const std::string& selector) {
    for (const Report& alias : items(main, "aliases"))
        if (text(alias, "selector") == selector)
            return fmt::format("the same device, {} ({})", text(alias, "confidence"),
                               text(alias, "evidence"));
    return "the same device";
}

// Kind, versions and size: what a bug report needs.
std::string summary(const Report& device) {
    const Report& facts = fields(device, "facts");
    std::string out;
    const auto add = [&](const std::string& part) {
        if (!part.empty()) out += (out.empty() ? "" : ", ") + part;
    };
    add(text(facts, "device_kind"));
    if (const auto units = number(facts, "compute_units"))
        add(count_text(static_cast<std::size_t>(*units), "compute unit"));
    add(memory_text(device));
    add(text(facts, "isa"));
    add(short_version(text(facts, "api_version")));
    if (const std::string driver = text(facts, "driver"); !driver.empty()) add("driver " + driver);
    return out;
}

// The entries of one physical device, the best entry first.
using Group = std::vector<const Report*>;

std::vector<Group> groups_of(const Report& report) {
    std::vector<Group> out;
    std::map<std::string, std::size_t> places;  // by physical id
    std::map<std::string, std::size_t> ranks;   // by selector, within its physical device
    for (const Report& physical : items(report, "physical_devices"))
        for (const std::string& selector : texts(physical, "devices"))
            ranks.emplace(selector, ranks.size());
    for (const Report& device : items(report, "devices")) {
        const std::string id = text(device, "physical_id");
        const auto [place, made] = places.emplace(id, out.size());
        if (made || id.empty()) {
            place->second = out.size();
            out.emplace_back();
        }
        out[place->second].push_back(&device);
    }
    const auto rank = [&](const Report* device) { return ranks[text(*device, "selector")]; };
    for (Group& group : out) std::ranges::stable_sort(group, {}, rank);
    return out;
}

// Names the plugins that were not opened. Their facts are from an earlier probe.
std::string remembered_text(const Report& report) {
    std::string ids;
    std::uint64_t oldest = UINT64_MAX;
    for (const Report& plugin : items(report, "plugins")) {
        const Report& probe = fields(plugin, "probe");
        if (!flag(probe, "remembered")) continue;
        ids += (ids.empty() ? "" : ", ") + text(plugin, "id");
        oldest = std::min(oldest, number(probe, "made_unix_ns").value_or(UINT64_MAX));
    }
    if (ids.empty() || oldest == UINT64_MAX) return {};
    return fmt::format(
        "{}: as a probe found at {}; after `wye plugins forget ID` a plugin is probed again", ids,
        time_text(oldest));
}

std::string devices_text(const Report& report, const Style& style) {
    const Report& devices = items(report, "devices");
    std::string out = ink(style, Ink::heading, "devices") + '\n';
    if (devices.empty()) return out + "  none\n";
    const std::string picked = text(report, "picks");
    std::size_t width = 8;
    for (const Report& device : devices)
        width = std::max(width, columns(clean(text(device, "selector"))));
    const std::string margin(width + 6, ' ');
    bool marked = false;
    const auto add = [&](const Report& device, const Report& main) {
        const std::string selector = text(device, "selector");
        const bool here = !picked.empty() && selector == picked;
        marked = marked || here;
        const std::string name = ink(style, Ink::name, clean(selector));
        const bool alias = &device != &main;
        const std::string mark = here ? ink(style, Ink::good, "*") : " ";
        out += wrapped(style, mark + (alias ? " + " : " ") + padded(name, width + (alias ? 2 : 4)),
                       text(device, "name"));
        std::string about = summary(device);
        if (const std::string id = text(device, "physical_id"); !alias && !id.empty())
            about += (about.empty() ? "@" : ", @") + id;
        if (!about.empty()) out += wrapped(style, margin, about);
        if (alias) out += wrapped(style, margin, alias_text(main, selector));
        if (!usable(device))
            out += wrapped(style, margin + ink(style, Ink::bad, "unusable: "),
                           with_remedy(text(device, "reason"), text(device, "fix")));
    };
    for (const Group& group : groups_of(report))
        for (const Report* device : group) add(*device, *group.front());
    if (marked) {
        std::string chosen = "auto";
        for (const Report& filter : items(report, "filters"))
            if (text(filter, "name") == "selector") chosen = text(filter, "value");
        out += wrapped(style, ink(style, Ink::good, "*") + " ",
                       fmt::format("the device that `{}` picks", chosen));
    }
    if (const std::string old = remembered_text(report); !old.empty())
        out += ink(style, Ink::heading, "remembered") + '\n' + wrapped(style, "  ", old);
    return out;
}

// "NVRTC 13.0" for "NVRTC 13.0 /usr/lib/...".
std::string compiler_text(const Report& plugin) {
    const std::string all = text(plugin, "compiler");
    return all.substr(0, all.find(" /"));
}

// The reason against a plugin as one paragraph.
std::string reason_text(const Report& report, const Report& plugin) {
    const Report& reason = fields(plugin, "reason");
    std::string out = cause_text(reason);
    if (flag(plugin, "compiler_only"))
        out += fmt::format(" (compiler only: {})", compiler_text(plugin));
    return with_remedy(out, remedy(report, reason));
}

// Warnings about plugins that are used, one per line.
std::string warnings_text(const Report& report, const Style& style) {
    std::string out;
    std::size_t count = 0;
    std::size_t notes = 0;
    for (const Report& record : items(report, "records")) {
        const std::string severity = text(record, "severity");
        if (severity == "note") ++notes;
        if (severity != "warning" || ++count > kMostProblems) continue;
        std::string subject = text(record, "plugin");
        if (subject.empty()) subject = "-";
        out += wrapped(style, "  " + padded(ink(style, Ink::name, clean(subject)) + " ", 10),
                       text(record, "message") + ". " + remedy(report, record));
    }
    if (count > kMostProblems)
        out += fmt::format("  {} more; `wye info -v` has all\n", count - kMostProblems);
    if (!out.empty()) out = ink(style, Ink::heading, "warnings") + '\n' + out;
    if (notes != 0)
        out += ink(style, Ink::heading, "notes") + fmt::format("\n  {}; `wye info -v` has {}\n",
                                                               count_text(notes, "note"),
                                                               notes == 1 ? "it" : "all");
    return out;
}

std::string problems_text(const Report& report, const Style& style) {
    std::string out, left_out, disabled, absent;
    std::size_t count = 0;
    for (const Report& plugin : items(report, "plugins")) {
        std::string id = text(plugin, "id");
        if (text(plugin, "state") == "not_opened") left_out += (left_out.empty() ? "" : ", ") + id;
        if (text(plugin, "state") == "disabled") disabled += (disabled.empty() ? "" : ", ") + id;
        if (const std::string vendor = absent_vendor(report, plugin); !vendor.empty()) {
            absent += fmt::format("{}{} (this machine has no device of {}{})",
                                  absent.empty() ? "" : ", ", id, vendor,
                                  flag(plugin, "compiler_only")
                                      ? fmt::format("; compiler only: {}", compiler_text(plugin))
                                      : std::string());
            continue;
        }
        if (!failed(plugin) || ++count > kMostProblems) continue;
        if (id.empty()) id = text(plugin, "path");
        if (id.empty()) id = "-";
        out += wrapped(style, "  " + padded(ink(style, Ink::bad, clean(id)) + " ", 10),
                       reason_text(report, plugin));
    }
    if (count > kMostProblems)
        out += fmt::format("  {} more; `wye info -v` has all\n", count - kMostProblems);
    if (!absent.empty()) out += wrapped(style, "  not applicable: ", absent);
    if (!left_out.empty())
        out += wrapped(style, "  not opened: ", left_out + " (the selector does not name them)");
    if (!disabled.empty())
        out += wrapped(style, "  disabled:   ", disabled + " (WYE_PLUGINS_DISABLE names them)");
    return out.empty() ? out : ink(style, Ink::heading, "not used") + '\n' + out;
}

std::string filters_text(const Report& report, const Style& style) {
    std::string out;
    const auto add = [&](const Report& from) {
        out += wrapped(style, "  ", text(from, "name") + "=" + text(from, "value"));
        if (const std::string note = text(from, "note"); !note.empty())
            out += wrapped(style, ink(style, Ink::bad, "    "), note);
    };
    if (report.contains("environment")) {
        for (const Report& variable : items(report, "environment")) add(variable);
    } else {
        for (const Report& filter : items(report, "filters"))
            if (text(filter, "name") != "selector") add(filter);
    }
    return out.empty() ? out : ink(style, Ink::heading, "variables") + '\n' + out;
}

std::string layers_text(const Report& report, const Style& style) {
    std::string out;
    for (const Report& layer : items(report, "layers"))
        out += (out.empty() ? "" : ", ") + text(layer, "name") + ' ' + text(layer, "version");
    return out.empty() ? out : wrapped(style, ink(style, Ink::heading, "layers") + "  ", out);
}

std::string host_text(const Report& report, const Style& style) {
    const Report& host = fields(report, "host");
    std::string out = fmt::format("wye {}, {} {} {}", text(host, "version"), text(host, "system"),
                                  text(host, "kernel"), text(host, "arch"));
    if (const auto count = number(host, "processors"))
        out += ", " + count_text(static_cast<std::size_t>(*count), "processor");
    // States the time of the report, since free memory and all else may have changed.
    if (const std::string taken = text(report, "taken_at"); !taken.empty()) out += ", at " + taken;
    return wrapped(style, "", out);
}

}  // namespace

std::string screen_view(const Report& report, const Style& style) {
    return devices_text(report, style) + problems_text(report, style) +
           warnings_text(report, style) + layers_text(report, style) + filters_text(report, style) +
           host_text(report, style);
}

}  // namespace wye::tool
