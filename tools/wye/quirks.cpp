// SPDX-License-Identifier: Apache-2.0
//
// `wye quirks`: prints the table of driver workarounds, or runs the helper that audits them. Opens
// no plugin.
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "helper.hpp"
#include "verbs.hpp"
#include "wye/wye.hpp"

namespace wye::tool {
namespace {

using Json = nlohmann::json;

void print_table(const Json& table) {
    for (const Json& entry : table) {
        const auto text = [&](const char* name) { return entry.value(name, ""); };
        fmt::print(
            "{}\n  seen on      {}\n  the driver   {}\n  instead      {}\n  cost         {}\n"
            "  found by     {}{}\n\n",
            text("id"), text("seen_on"), text("fault"), text("workaround"), text("cost"),
            text("found_by"),
            entry.value("unknown_drivers", false) ? "; unknown drivers get it too" : "");
    }
}

ExitCode audit(const QuirksOptions& options) {
    std::vector<std::string> words;
    const auto add = [&](const char* flag, const std::optional<std::string>& value) {
        if (value) words.insert(words.end(), {flag, *value});
    };
    add("--devices", options.devices);
    add("--only", options.only);
    add("--timeout", options.timeout);
    if (options.json) words.emplace_back("--json");
    return become_helper("quirks", std::move(words));
}

}  // namespace

ExitCode quirks(const QuirksOptions& options) {
    if (options.audit) return audit(options);
    const auto document = quirks_report();
    if (!document.ok()) return fail(document.error());
    if (options.json) {
        fmt::print("{}\n", *document);
        return kOk;
    }
    const Json table = Json::parse(*document, nullptr, false);
    if (!table.is_array())
        return fail(Error(Code::INTERNAL, "the library's table is not JSON", "Fix: report this"));
    print_table(table);
    return kOk;
}

}  // namespace wye::tool
