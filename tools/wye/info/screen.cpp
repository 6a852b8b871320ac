// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "views.hpp"

namespace wye::tool {
namespace {

constexpr std::size_t kMostProblems = 8;  // more are counted only

// "OpenCL 3.0" of "OpenCL 3.0 PoCL HSTR: ...".
std::string short_version(const std::string& version) {
    const std::size_t name = version.find(' ');
    if (name == version.npos) return version;
    return version.substr(0, version.find(' ', name + 1));
}

std::string memory_text(const Report& facts) {
    const auto total = number(facts, "memory_bytes");
    const auto free = number(facts, "free_memory_bytes");
    if (!total) return {};
    if (!free) return size_text(*total);
    return fmt::format("{} of {} free", size_text(*free), size_text(*total));
}

std::string aliases_text(const Report& device) {
    std::string out;
    for (const Report& alias : items(device, "aliases")) {
        const std::string name =
            alias.is_string() ? alias.get<std::string>() : text(alias, "selector");
        if (!name.empty()) out += (out.empty() ? "the same as " : ", ") + name;
    }
    return out;
}

// Kind, versions, size: what a bug report needs.
std::string summary(const Report& device) {
    const Report& facts = fields(device, "facts");
    std::string out;
    const auto add = [&](const std::string& part) {
        if (!part.empty()) out += (out.empty() ? "" : ", ") + part;
    };
    add(text(facts, "device_kind"));
    if (const auto units = number(facts, "compute_units"))
        add(count_text(static_cast<std::size_t>(*units), "compute unit"));
    add(memory_text(facts));
    add(text(facts, "isa"));
    add(short_version(text(facts, "api_version")));
    if (const std::string driver = text(facts, "driver"); !driver.empty()) add("driver " + driver);
    add(aliases_text(device));
    return out;
}

std::string devices_text(const Report& report, const Style& style) {
    const Report& devices = items(report, "devices");
    std::string out = ink(style, Ink::heading, "devices") + '\n';
    if (devices.empty()) return out + "  none\n";
    const std::string picked = text(report, "picks");
    std::size_t width = 8;
    for (const Report& device : devices)
        width = std::max(width, columns(clean(text(device, "selector"))));
    const std::string margin(width + 4, ' ');
    bool marked = false;
    for (const Report& device : devices) {
        const std::string selector = text(device, "selector");
        const bool here = !picked.empty() && selector == picked;
        marked = marked || here;
        const std::string name = ink(style, Ink::name, clean(selector));
        out += wrapped(style,
                       (here ? ink(style, Ink::good, "*") : " ") + " " + padded(name, width + 2),
                       text(device, "name"));
        if (const std::string about = summary(device); !about.empty())
            out += wrapped(style, margin, about);
        if (!usable(device))
            out += wrapped(style, margin + ink(style, Ink::bad, "unusable: "),
                           text(device, "reason") + " " + text(device, "fix"));
    }
    if (marked) {
        std::string chosen = "auto";
        for (const Report& filter : items(report, "filters"))
            if (text(filter, "name") == "selector") chosen = text(filter, "value");
        out += wrapped(style, ink(style, Ink::good, "*") + " ",
                       fmt::format("the device that `{}` picks", chosen));
    }
    return out;
}

// The reason against a plugin as one paragraph.
std::string reason_text(const Report& plugin) {
    const Report& reason = fields(plugin, "reason");
    std::string out = text(reason, "message");
    if (const std::string loader = text(reason, "loader_text"); !loader.empty())
        out += fmt::format(" [{}]", loader);
    return out + ". " + text(reason, "fix");
}

std::string problems_text(const Report& report, const Style& style) {
    std::string out, left_out, disabled;
    std::size_t count = 0;
    for (const Report& plugin : items(report, "plugins")) {
        std::string id = text(plugin, "id");
        if (text(plugin, "state") == "not_opened") left_out += (left_out.empty() ? "" : ", ") + id;
        if (text(plugin, "state") == "disabled") disabled += (disabled.empty() ? "" : ", ") + id;
        if (!failed(plugin) || ++count > kMostProblems) continue;
        if (id.empty()) id = text(plugin, "path");
        if (id.empty()) id = "-";
        out +=
            wrapped(style, "  " + padded(ink(style, Ink::bad, clean(id)), 10), reason_text(plugin));
    }
    if (count > kMostProblems)
        out += fmt::format("  {} more; `wye info -v` has all\n", count - kMostProblems);
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

std::string host_text(const Report& report, const Style& style) {
    const Report& host = fields(report, "host");
    std::string out = fmt::format("wye {}, {} {} {}", text(host, "version"), text(host, "system"),
                                  text(host, "kernel"), text(host, "arch"));
    if (const auto count = number(host, "processors"))
        out += ", " + count_text(static_cast<std::size_t>(*count), "processor");
    // Free memory and all else is as of then.
    if (const std::string taken = text(report, "taken_at"); !taken.empty()) out += ", at " + taken;
    return wrapped(style, "", out);
}

}  // namespace

std::string screen_view(const Report& report, const Style& style) {
    return devices_text(report, style) + problems_text(report, style) +
           filters_text(report, style) + host_text(report, style);
}

}  // namespace wye::tool
