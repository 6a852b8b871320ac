// SPDX-License-Identifier: Apache-2.0
//
// The report as one page: a card for each physical device, which narrow screens stack; all facts
// below, with a box to search them.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "page_style.hpp"
#include "views.hpp"

namespace wye::tool {
namespace {

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : clean(text)) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

// A sentence, whose parts in backticks become code.
std::string sentence(std::string_view text) {
    std::string out;
    bool code = false;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t mark = text.find('`', at);
        const std::size_t end = std::min(mark, text.size());
        out += escaped(text.substr(at, end - at));
        if (mark == text.npos) break;
        // A backtick without a second backtick stands for itself.
        if (!code && text.find('`', mark + 1) == text.npos)
            out += '`';
        else
            out += (code = !code) ? "<code>" : "</code>";
        at = mark + 1;
    }
    return out;
}

// A number with thin spaces between groups of three digits, if it has more than four digits.
std::string grouped(std::uint64_t number) {
    std::string out = fmt::format("{}", number);
    if (out.size() > 4)
        for (std::size_t at = out.size(); at > 3; at -= 3) out.insert(at - 3, "\u202f");
    return out.starts_with("\u202f") ? out.substr(3) : out;
}

// A fact with its unit, as people read it; the exact number is in the document.
std::string readable(const std::string& name, const Report& value) {
    if (value.is_array() && !value.empty() && value.front().is_number_unsigned()) {
        std::string out;
        const char* const between = name.starts_with("max_workgroup") ? " x " : ", ";
        for (const Report& one : value) out += (out.empty() ? "" : between) + readable("", one);
        return out;
    }
    if (!value.is_number_unsigned()) return value_text(value);
    const auto number = value.get<std::uint64_t>();
    if (name.ends_with("_bytes_per_second"))
        return fmt::format("{:.0f} GB/s", static_cast<double>(number) / 1e9);
    if (name.ends_with("_bytes")) return size_text(number);
    if (name.ends_with("_hz")) return fmt::format("{:.0f} MHz", static_cast<double>(number) / 1e6);
    return name.ends_with("_id") ? fmt::format("0x{:04x}", number) : grouped(number);
}

// "2026-11-24 16:16:14 UTC" for "2026-11-24T16:16:14Z".
std::string date_text(std::string text) {
    if (const std::size_t at = text.find('T'); at != text.npos) text[at] = ' ';
    if (text.ends_with('Z')) text.replace(text.size() - 1, 1, " UTC");
    return text;
}

std::string row(std::string_view name, std::string_view value, std::string_view note = {}) {
    std::string out = fmt::format("<tr><th>{}</th><td>{}", escaped(name), sentence(value));
    if (!note.empty()) out += fmt::format(" <span class=\"note\">{}</span>", escaped(note));
    return out + "</td></tr>\n";
}

// A paragraph about a fault: a marked word, the message, and the remedy.
std::string fault(std::string_view word, std::string_view message, std::string_view fix) {
    return fmt::format("<p><b class=\"bad\">{}</b> {}</p>\n", escaped(word),
                       sentence(with_remedy(std::string(message), std::string(fix))));
}

// The entries of each physical device, in the report's order, with the best entry first.
std::vector<std::vector<const Report*>> physical_devices(const Report& report) {
    std::vector<std::vector<const Report*>> out;
    std::map<std::string, std::size_t> places;
    for (const Report& device : items(report, "devices")) {
        const std::string id = text(device, "physical_id");
        const auto [place, made] = places.emplace(id, out.size());
        if (made || id.empty()) {
            place->second = out.size();
            out.emplace_back();
        }
        out[place->second].push_back(&device);
    }
    return out;
}

std::string entry(const Report& report, const Report& device) {
    const std::string selector = text(device, "selector");
    const Report& facts = fields(device, "facts");
    std::string out = fmt::format(
        "<h3><code>{}</code>{}</h3>\n<p>{}</p>\n", escaped(selector),
        selector == text(report, "picks") ? " <span class=\"picked\">picked</span>" : "",
        escaped(text(device, "name")));
    std::string about;
    const auto add = [&](const std::string& part) {
        if (!part.empty()) about += (about.empty() ? "" : ", ") + part;
    };
    add(text(facts, "device_kind"));
    if (const auto total = number(facts, "memory_bytes")) {
        const auto free = number(facts, "free_memory_bytes");
        add(free ? fmt::format("{} of {} free", size_text(*free), size_text(*total))
                 : size_text(*total));
    }
    add(text(facts, "api_version"));
    if (const std::string driver = text(facts, "driver"); !driver.empty()) add("driver " + driver);
    out += fmt::format("<p class=\"note\">{}</p>\n", escaped(about));
    if (!usable(device)) out += fault("failed", text(device, "reason"), text(device, "fix"));
    return out;
}

// A drawing of a chip, with a line to each entry of this physical device.
std::string relation(const std::vector<const Report*>& group) {
    constexpr int kStep = 26;
    const int height = kStep * static_cast<int>(group.size());
    std::string out = fmt::format(
        "<svg viewBox=\"0 0 240 {0}\" width=\"240\" height=\"{0}\" role=\"img\">"
        "<title>one device by {1} names</title><rect x=\"1\" y=\"{2}\" width=\"22\" "
        "height=\"18\" rx=\"3\"/>",
        height, group.size(), height / 2 - 9);
    for (std::size_t i = 0; i < group.size(); ++i) {
        const int y = kStep * static_cast<int>(i) + kStep / 2;
        out +=
            fmt::format("<path d=\"M23 {} C50 {} 40 {} 66 {}\"/><text x=\"72\" y=\"{}\">{}</text>",
                        height / 2, height / 2, y, y, y + 5, escaped(text(*group[i], "selector")));
    }
    return out + "</svg>\n";
}

std::string card(const Report& report, const std::vector<const Report*>& group) {
    std::string out = "<section class=\"card\">\n";
    if (group.size() > 1) out += relation(group);
    for (const Report* device : group) out += entry(report, *device);
    std::string why;
    for (const Report& alias : items(*group.front(), "aliases"))
        why += fmt::format("<li><code>{}</code>: the same device, {} ({})</li>\n",
                           escaped(text(alias, "selector")), escaped(text(alias, "confidence")),
                           sentence(text(alias, "evidence")));
    if (!why.empty()) out += "<ul class=\"note\">\n" + why + "</ul>\n";
    return out + "</section>\n";
}

std::string facts_section(const Report& device) {
    std::string out = fmt::format("<details open><summary><code>{}</code> {}</summary>\n<table>\n",
                                  escaped(text(device, "selector")), escaped(text(device, "name")));
    out += row("id", text(device, "id"));
    for (const char* key : {"formats", "quirks"}) {
        std::string all;
        for (const std::string& one : texts(device, key)) all += (all.empty() ? "" : ", ") + one;
        out += row(key, all.empty() ? "none" : all);
    }
    std::string unknown;
    for (const auto& [name, value] : fields(device, "facts").items()) {
        if (value.is_null())
            unknown += (unknown.empty() ? "" : ", ") + name;
        else
            out += row(name, readable(name, value),
                       text(fields(device, "fact_sources"), name.c_str()));
    }
    out += "</table>\n";
    if (!unknown.empty())
        out += fmt::format("<p class=\"note\">Not reported: {}</p>\n", escaped(unknown));
    return out + "</details>\n";
}

std::string plugins_section(const Report& report) {
    std::string out;
    for (const Report& plugin : items(report, "plugins")) {
        const Report& reason = fields(plugin, "reason");
        std::string id = text(plugin, "id");
        if (id.empty()) id = text(plugin, "path");
        out += fmt::format("<section class=\"card\">\n<h3><code>{}</code> {}</h3>\n", escaped(id),
                           escaped(text(plugin, "version")));
        if (failed(plugin) && absent_vendor(report, plugin).empty())
            out += fault(text(plugin, "state"), text(reason, "message"), remedy(report, reason));
        else
            out += fmt::format("<p>{}</p>\n", escaped(state_text(report, plugin)));
        if (const std::string loader = text(reason, "loader_text"); !loader.empty())
            out += fmt::format("<p class=\"note\">{}</p>\n", escaped(loader));
        if (const std::string path = text(plugin, "path"); !path.empty())
            out += fmt::format("<p class=\"note path\">{}</p>\n", escaped(path));
        out += "</section>\n";
    }
    return out;
}

std::string notes_section(const Report& report) {
    std::string out;
    for (const Report& record : items(report, "records")) {
        const std::string severity = severity_text(report, record);
        const std::string plugin = text(record, "plugin");
        const std::string what = with_remedy(text(record, "message"), remedy(report, record));
        out += fmt::format("<li><b class=\"{}\">{}</b> {}{}</li>\n",
                           severity == "note" ? "note" : "bad", escaped(severity),
                           plugin.empty() ? "" : fmt::format("<code>{}</code>: ", escaped(plugin)),
                           sentence(what));
    }
    for (const Report& doubt : items(report, "doubts"))
        out += fmt::format("<li>may be one device: {}</li>\n", sentence(text(doubt, "reason")));
    return out.empty() ? out : "<h2>Warnings and notes</h2>\n<ul>\n" + out + "</ul>\n";
}

std::string host_rows(const Report& report) {
    std::string out;
    for (const auto& [name, value] : fields(report, "host").items())
        if (value.is_primitive()) out += row(name, readable(name, value));
    for (const Report& variable : items(report, "environment"))
        out += row(text(variable, "name"), text(variable, "value"), text(variable, "note"));
    return out;
}

}  // namespace

std::string page_view(const Report& report) {
    std::string out = kPageHead;
    const Report& host = fields(report, "host");
    out += fmt::format("<h1>Devices</h1>\n<p class=\"note\">wye {}, {} {}",
                       escaped(text(host, "version")), escaped(text(host, "system")),
                       escaped(text(host, "arch")));
    if (const std::string taken = text(report, "taken_at"); !taken.empty())
        out += fmt::format(", <time>{}</time>", escaped(date_text(taken)));
    out += "</p>\n<div class=\"cards\">\n";
    for (const auto& group : physical_devices(report)) out += card(report, group);
    if (items(report, "devices").empty()) out += "<p>There is no device.</p>\n";
    out += "</div>\n<h2>Plugins</h2>\n<div class=\"cards\">\n" + plugins_section(report) +
           "</div>\n" + notes_section(report);
    out +=
        "<h2>Facts</h2>\n<p class=\"search\" hidden><label>Search <input type=\"search\" "
        "id=\"search\">"
        "</label></p>\n";
    for (const Report& device : items(report, "devices")) out += facts_section(device);
    out += "<h2>Host</h2>\n<table>\n" + host_rows(report) + "</table>\n";
    return out + kPageEnd;
}

}  // namespace wye::tool
