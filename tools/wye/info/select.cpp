// SPDX-License-Identifier: Apache-2.0
#include "select.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../suggest.hpp"
#include "registry/choose/selector.hpp"
#include "registry/open/device.hpp"
#include "saved_facts.hpp"

namespace wye::tool {
namespace {

struct SavedDevice {
    registry::DeviceInfo info;
    std::string physical;
    std::size_t place = 0;  // place in the order of preference of the report's selector
};

std::vector<SavedDevice> saved_devices(const Report& report) {
    const std::vector<std::string> order = texts(report, "order");
    std::vector<SavedDevice> out;
    for (const Report& device : items(report, "devices")) {
        SavedDevice& one = out.emplace_back();
        one.info = device_of(device);
        one.physical = text(device, "physical_id");
        one.place =
            static_cast<std::size_t>(std::ranges::find(order, one.info.selector) - order.begin());
    }
    std::ranges::stable_sort(out, {}, &SavedDevice::place);
    return out;
}

Error names_nothing(const std::string& entry, const std::vector<SavedDevice>& devices) {
    std::vector<std::string> known;
    for (const SavedDevice& device : devices) known.push_back(device.info.selector);
    std::vector<std::string> near = nearest(entry, known);
    if (std::string kind = registry::devices_of_kind(entry); !kind.empty()) near = {kind};
    return {Code::NO_DEVICE,
            fmt::format("`{}` names no device of the report; there are {}", clean(entry),
                        known.empty() ? "none" : clean(fmt::format("{}", fmt::join(known, ", ")))),
            near.empty() ? "Fix: name one of these"
                         : fmt::format("Fix: did you mean `{}`?", clean(near.front())),
            entry};
}

}  // namespace

Result<Report> selected(Report report, const std::string& selector) {
    WYE_ASSIGN(const registry::Selector parsed, registry::parse_selector(selector));
    const std::vector<SavedDevice> devices = saved_devices(report);
    const auto covers = [](const registry::SelectorEntry& entry, const SavedDevice& device) {
        return entry.covers(device.info, device.physical);
    };
    for (const registry::SelectorEntry& entry : parsed.entries)
        if (std::ranges::none_of(devices, [&](const SavedDevice& d) { return covers(entry, d); }))
            return names_nothing(to_text(entry), devices);
    std::vector<std::string> order;
    report["picks"] = nullptr;
    for (const registry::SelectorEntry& entry : parsed.wanted()) {
        std::vector<const SavedDevice*> named;
        for (const SavedDevice& device : devices)
            if (covers(entry, device) && !parsed.discards(device.info, device.physical))
                named.push_back(&device);
        if (!entry.ranked() || entry.kind == registry::SelectorEntry::Kind::plugin)
            std::ranges::stable_sort(named, {}, [](const SavedDevice* d) { return d->info.index; });
        for (const SavedDevice* device : named) {
            const std::string& name = device->info.selector;
            if (std::ranges::find(order, name) != order.end()) continue;
            order.push_back(name);
            if (report["picks"].is_null() && device->info.usable) report["picks"] = name;
        }
    }
    Report kept = Report::array();
    for (const Report& device : items(report, "devices"))
        if (std::ranges::find(order, text(device, "selector")) != order.end())
            kept.push_back(device);
    report["order"] = order;
    report["devices"] = std::move(kept);
    if (report.contains("filters"))
        for (Report& filter : report["filters"])
            if (text(filter, "name") == "selector") filter["value"] = selector;
    return report;
}

}  // namespace wye::tool
