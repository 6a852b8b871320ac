// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "views.hpp"

namespace wye::tool {
namespace {

// The policy forbids the page to load anything, even by mistake.
constexpr const char* kHead =
    R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>Devices of this machine</title>
<style>
body{max-width:60em;margin:2em auto;padding:0 1em;font:16px/1.5 sans-serif;color:#222;background:#fff}
table{border-collapse:collapse;width:100%}
td,th{border:1px solid #bbb;padding:.2em .6em;text-align:left;vertical-align:top;overflow-wrap:anywhere}
summary{cursor:pointer;padding:.3em 0}.bad{color:#b00020}.faint{color:#777}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#1b1b1b}td,th{border-color:#555}.bad{color:#ff7b7b}.faint{color:#999}}
</style></head>
<body>
)";

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

std::string row(std::string_view name, std::string_view value, std::string_view note = {}) {
    return fmt::format("<tr><th>{}</th><td>{}</td><td class=\"faint\">{}</td></tr>\n",
                       escaped(name), escaped(value), escaped(note));
}

std::string overview(const Report& report) {
    std::string out =
        "<table>\n<tr><th></th><th>device</th><th>name</th><th>kind</th><th>memory</th>"
        "<th>driver</th></tr>\n";
    for (const Report& device : items(report, "devices")) {
        const Report& facts = fields(device, "facts");
        const auto memory = number(facts, "memory_bytes");
        const bool picked = text(device, "selector") == text(report, "picks");
        out += fmt::format(
            "<tr{}><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
            "<td>{}</td></tr>\n",
            usable(device) ? "" : " class=\"bad\"", picked ? "&#9733;" : "",
            escaped(text(device, "selector")), escaped(text(device, "name")),
            escaped(text(facts, "device_kind")), memory ? size_text(*memory) : "",
            escaped(text(facts, "driver")));
    }
    return out + "</table>\n";
}

std::string device_section(const Report& device) {
    std::string out = fmt::format("<details><summary>{}: {}</summary>\n<table>\n",
                                  escaped(text(device, "selector")), escaped(text(device, "name")));
    out += row("id", text(device, "id"));
    if (!usable(device)) out += row("unusable", text(device, "reason"), text(device, "fix"));
    for (const char* key : {"formats", "quirks"}) out += row(key, value_text(items(device, key)));
    for (const auto& [name, value] : fields(device, "facts").items())
        out += row(name, value_text(value), text(fields(device, "fact_sources"), name.c_str()));
    return out + "</table></details>\n";
}

std::string plugin_rows(const Report& report) {
    std::string out;
    for (const Report& plugin : items(report, "plugins")) {
        const Report& reason = fields(plugin, "reason");
        out += row(text(plugin, "id"),
                   fmt::format("{} {}", text(plugin, "version"), text(plugin, "state")),
                   with_remedy(text(reason, "message"), text(reason, "fix")));
    }
    return out;
}

std::string host_rows(const Report& report) {
    std::string out;
    for (const auto& [name, value] : fields(report, "host").items())
        if (value.is_primitive()) out += row(name, value_text(value));
    for (const Report& variable : items(report, "environment"))
        out += row(text(variable, "name"), text(variable, "value"), text(variable, "note"));
    return out;
}

}  // namespace

std::string page_view(const Report& report) {
    std::string out = kHead;
    out += "<h1>Devices</h1>\n" + overview(report);
    if (!text(report, "picks").empty()) out += "<p>&#9733; the device that is picked</p>\n";
    for (const Report& device : items(report, "devices")) out += device_section(device);
    out += "<h2>Plugins</h2>\n<table>\n" + plugin_rows(report) + "</table>\n";
    out += "<h2>Host</h2>\n<table>\n" + host_rows(report) + "</table>\n";
    return out + "</body></html>\n";
}

}  // namespace wye::tool
