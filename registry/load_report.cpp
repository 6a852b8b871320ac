// SPDX-License-Identifier: Apache-2.0
#include "registry/load_report.hpp"

#include <algorithm>
#include <tuple>

namespace wye::registry {
namespace {

using State = LoadedPlugin::State;

Record excluded(const PluginInfo& plugin) {
    Record out;
    out.severity = Severity::note;
    out.code = Code::DISABLED;
    out.message = "the selector does not name it, so it was not opened";
    out.fix = "Fix: none needed; or name it in the selector";
    out.path = plugin.path;
    out.plugin = plugin.id;
    return out;
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

// Whether a record is of a file that was opened, or was to be.
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

}  // namespace

std::string_view loaded_state_name(State state) noexcept {
    switch (state) {
        case State::found:
            return "found";
        case State::ready:
            return "ready";
        case State::failed:
            return "failed";
        case State::refused:
            return "refused";
        case State::shadowed:
            return "shadowed";
        case State::disabled:
            return "disabled";
        case State::not_opened:
            return "not_opened";
    }
    return "unknown";
}

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

LoadReport load_report(Registry& registry, const Selector& selector) {
    LoadReport out;
    out.devices = registry.devices(selector);
    std::ranges::sort(out.devices, [](const auto& a, const auto& b) {
        return std::tie(a->plugin, a->index) < std::tie(b->plugin, b->index);
    });
    out.records = registry.records();
    std::ranges::sort(out.records, [](const Record& a, const Record& b) {
        return std::tie(a.plugin, a.path, a.stage, a.message) <
               std::tie(b.plugin, b.path, b.stage, b.message);
    });
    out.plugins = loaded_plugins(registry, selector, out.records);
    return out;
}

}  // namespace wye::registry
