// SPDX-License-Identifier: Apache-2.0
#include "select.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../suggest.hpp"

namespace wye::tool {
namespace {

bool names(const std::string& entry, const Report& device) {
    if (entry == "auto" || entry == "*") return true;
    const std::string plugin = text(device, "plugin");
    const std::string id = entry.starts_with('@') ? entry.substr(1) : entry;
    return entry == plugin || entry == plugin + ":*" || entry == text(device, "selector") ||
           id == text(device, "id") || id == text(device, "physical_id");
}

Error names_nothing(const std::string& entry, const Report& devices) {
    std::vector<std::string> known;
    for (const Report& device : devices) known.push_back(text(device, "selector"));
    const std::vector<std::string> near = nearest(entry, known);
    return {Code::NO_DEVICE,
            fmt::format("`{}` names no device of the report; there are {}", clean(entry),
                        known.empty() ? "none" : clean(fmt::format("{}", fmt::join(known, ", ")))),
            near.empty() ? "Fix: name one of these"
                         : fmt::format("Fix: did you mean `{}`?", clean(near.front())),
            entry};
}

struct Entries {
    std::vector<std::string> wanted, discarded;
};

Result<Entries> parse_entries(const std::string& selector) {
    Entries out;
    if (selector.find_first_of("[]\"") != selector.npos)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("`{}`: a saved report takes plugins, selectors and ids only",
                                 clean(selector)),
                     "Fix: name the devices, or use --require for properties", selector);
    for (std::size_t from = 0; from <= selector.size();) {
        const std::size_t end = std::min(selector.find(',', from), selector.size());
        std::string entry = selector.substr(from, end - from);
        std::erase(entry, ' ');
        from = end + 1;
        const bool discard = entry.starts_with('-');
        if (discard) entry.erase(0, 1);
        if (!entry.empty()) (discard ? out.discarded : out.wanted).push_back(entry);
    }
    if (out.wanted.empty()) out.wanted.emplace_back("auto");
    return out;
}

}  // namespace

Result<Report> selected(Report report, const std::string& selector) {
    WYE_ASSIGN(const Entries entries, parse_entries(selector));
    const Report devices = items(report, "devices");
    const auto discards = [&](const Report& device) {
        return std::ranges::any_of(entries.discarded,
                                   [&](const std::string& entry) { return names(entry, device); });
    };
    for (const std::string& entry : entries.discarded)
        if (std::ranges::none_of(devices, [&](const Report& d) { return names(entry, d); }))
            return names_nothing(entry, devices);
    // In the order of the entries; within one as the report prefers them.
    std::vector<std::string> before = texts(report, "order");
    for (const Report& device : devices) before.push_back(text(device, "selector"));
    std::vector<std::string> order;
    for (const std::string& entry : entries.wanted) {
        bool any = false;
        for (const std::string& name : before)
            for (const Report& device : devices) {
                if (text(device, "selector") != name || !names(entry, device)) continue;
                any = true;
                if (!discards(device) && std::ranges::find(order, name) == order.end())
                    order.push_back(name);
            }
        if (!any) return names_nothing(entry, devices);
    }
    Report kept = Report::array();
    for (const Report& device : devices)
        if (std::ranges::find(order, text(device, "selector")) != order.end())
            kept.push_back(device);
    report["picks"] = nullptr;
    for (const std::string& name : order)
        for (const Report& device : kept)
            if (report["picks"].is_null() && text(device, "selector") == name && usable(device))
                report["picks"] = name;
    report["order"] = order;
    report["devices"] = std::move(kept);
    if (report.contains("filters"))
        for (Report& filter : report["filters"])
            if (text(filter, "name") == "selector") filter["value"] = selector;
    return report;
}

}  // namespace wye::tool
