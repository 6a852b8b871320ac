// SPDX-License-Identifier: Apache-2.0
#include "registry/report/load_report.hpp"

#include "wye/sdk/words.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace wye::registry {
namespace {

using State = LoadedPlugin::State;

Record excluded(const PluginInfo& plugin) {
    return {.severity = Severity::note,
            .code = Code::DISABLED,
            .message = "the selector does not name it, so it was not opened",
            .fix = "Fix: none needed; or name it in the selector",
            .path = plugin.path,
            .plugin = plugin.id};
}

LoadedPlugin loaded(PluginInfo info, const Selector& selector) {
    LoadedPlugin out;
    out.has_source = true;
    switch (info.state) {
        case PluginState::found:
            out.state = State::found;
            out.stage = Stage::manifest;
            if (selector.excludes_plugin(info.id)) {
                out.state = State::not_opened;
                out.reason = excluded(info);
            }
            break;
        case PluginState::ready:
            out.state = State::ready;
            out.stage = Stage::enumerated;
            break;
        case PluginState::failed:
            out.state = State::failed;
            out.reason = info.reason;
            if (info.reason) out.stage = info.reason->stage;
            break;
    }
    out.info = std::move(info);
    return out;
}

// Whether a record is about opening a file.
bool is_of_opening(const Record& record) {
    return record.stage > Stage::trust && record.stage != Stage::architecture;
}

State passed_over_state(const Record& record) {
    if (record.code == Code::DISABLED) return State::disabled;
    if (is_of_opening(record)) return State::failed;
    return record.severity == Severity::note ? State::shadowed : State::refused;
}

// Whether a record is about a candidate that was passed over.
bool is_candidate(const Record& record) {
    return record.severity == Severity::refused ||
           (record.severity == Severity::note &&
            (record.code == Code::DUPLICATE || record.code == Code::DISABLED));
}

// Lists the plugins by id, then the candidates that were passed over according to `records`. Opens
// nothing.
std::vector<LoadedPlugin> loaded_plugins(const Registry& registry, const Selector& selector,
                                         const std::vector<Record>& records) {
    std::vector<LoadedPlugin> out;
    for (PluginInfo& info : registry.plugins()) out.push_back(loaded(std::move(info), selector));
    std::ranges::sort(out, [](const auto& a, const auto& b) { return a.info.id < b.info.id; });
    const std::size_t count = out.size();
    for (const Record& record : records) {
        const auto end = out.begin() + static_cast<std::ptrdiff_t>(count);
        const bool listed = std::any_of(out.begin(), end, [&](const LoadedPlugin& p) {
            return p.info.path == record.path && p.info.id == record.plugin;
        });
        if (listed || !is_candidate(record)) continue;
        LoadedPlugin& passed = out.emplace_back();
        passed.state = passed_over_state(record);
        passed.stage = record.stage;
        passed.info.id = record.plugin;
        passed.info.backend = record.plugin;
        passed.info.path = record.path;
        passed.reason = record;
    }
    return out;
}

}  // namespace

std::string_view loaded_state_name(State state) noexcept {
    constexpr std::string_view kNames[] = {"found",    "ready",    "failed",    "refused",
                                           "shadowed", "disabled", "not_opened"};
    return sdk::name_in(kNames, state);
}

LoadReport load_report(Registry& registry, const Selector& selector) {
    LoadReport out;
    Registry::Listing listing = registry.list(selector);
    out.unmatched = std::move(listing.unmatched);
    out.physical = registry.physical();
    std::unordered_map<const DeviceInfo*, LoadedDevice> known;
    for (const Registry::Physical& one : out.physical.devices)
        for (std::size_t i = 0; i < one.devices.size(); ++i)
            known[one.devices[i].get()] = {one.devices[i], one.id, one.aliases[i]};
    // `devices` is sorted by plugin and index. `order` has the indices in the selector's order.
    for (const std::shared_ptr<const DeviceInfo>& device : listing.devices) {
        const auto found = known.find(device.get());
        out.devices.push_back(found == known.end() ? LoadedDevice{device, {}, {}} : found->second);
    }
    std::ranges::sort(out.devices, [](const LoadedDevice& a, const LoadedDevice& b) {
        return std::tie(a.info->plugin, a.info->index) < std::tie(b.info->plugin, b.info->index);
    });
    std::unordered_map<const DeviceInfo*, std::size_t> place;
    for (std::size_t i = 0; i < out.devices.size(); ++i) place[out.devices[i].info.get()] = i;
    for (const std::shared_ptr<const DeviceInfo>& device : listing.devices) {
        out.order.push_back(place[device.get()]);
        if (!out.picked && device->usable) out.picked = out.order.back();
    }
    // The order of records depends on the threads that open plugins; sorting makes reports
    // reproducible.
    out.records = registry.records();
    std::ranges::sort(out.records, [](const Record& a, const Record& b) {
        return std::tie(a.plugin, a.path, a.stage, a.message) <
               std::tie(b.plugin, b.path, b.stage, b.message);
    });
    out.plugins = loaded_plugins(registry, selector, out.records);
    return out;
}

}  // namespace wye::registry
