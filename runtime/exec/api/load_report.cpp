// SPDX-License-Identifier: Apache-2.0
#include "registry/report/load_report.hpp"

#include <fmt/format.h>

#include "exec/api/api.hpp"
#include "wye/report.h"
#include "wye/sdk/plugin.hpp"

namespace registry = wye::registry;
using namespace wye::exec;
using wye::Code;
using wye::Error;
using wye::Result;
using wye::sdk::from_abi;
using wye::sdk::to_abi;

struct wye_load_report {
    registry::LoadReport all;
};

namespace {

using Listed = registry::LoadedPlugin::State;
static_assert(static_cast<int>(registry::Stage::found) == WYE_LOAD_FOUND);
static_assert(static_cast<int>(registry::Stage::needs) == WYE_LOAD_NEEDS);
static_assert(static_cast<int>(registry::Stage::enumerated) == WYE_LOAD_ENUMERATED);
static_assert(static_cast<int>(registry::Stage::probed) == WYE_LOAD_PROBED);
static_assert(static_cast<int>(registry::Severity::refused) == WYE_LOAD_REFUSED);
static_assert(static_cast<int>(registry::Severity::note) == WYE_LOAD_NOTE);
static_assert(static_cast<int>(Listed::found) == WYE_LOAD_STATE_FOUND);
static_assert(static_cast<int>(Listed::refused) == WYE_LOAD_STATE_REFUSED);
static_assert(static_cast<int>(Listed::not_opened) == WYE_LOAD_STATE_NOT_OPENED);
static_assert(static_cast<int>(registry::ProbeState::none) == WYE_LOAD_PROBE_NONE);
static_assert(static_cast<int>(registry::ProbeState::remembered) == WYE_LOAD_PROBE_REMEMBERED);
static_assert(static_cast<int>(registry::ProbeState::child) == WYE_LOAD_PROBE_NOW);

void fill(const registry::Record& from, wye_load_record& out) {
    out.stage = static_cast<std::uint32_t>(from.stage);
    out.severity = static_cast<std::uint32_t>(from.severity);
    out.code = static_cast<wye_status>(from.code);
    out.reserved = 0;
    out.message = to_abi(from.message);
    out.fix = to_abi(from.fix);
    out.loader_text = to_abi(from.loader_text);
    out.missing_library = to_abi(from.missing_library);
    out.path = to_abi(from.path);
    out.plugin = to_abi(from.plugin);
}

void fill(const registry::LoadedPlugin& from, wye_load_plugin& out) {
    const registry::PluginInfo& info = from.info;
    out.state = static_cast<std::uint32_t>(from.state);
    out.stage = static_cast<std::uint32_t>(from.stage);
    out.device_count = static_cast<std::uint32_t>(info.devices.size());
    out.has_reason = from.reason ? 1 : 0;
    out.id = to_abi(info.id);
    out.version = to_abi(info.version);
    out.vendor = to_abi(info.vendor);
    out.backend = to_abi(info.backend);
    out.path = to_abi(info.path);
    out.source = from.has_source ? to_abi(registry::source_name(info.source)) : wye_string{};
    out.reason = wye_load_record{};
    out.reason.header.size = sizeof out.reason;
    if (from.reason) fill(*from.reason, out.reason);
    out.probe = static_cast<std::uint32_t>(info.probe);
    out.reserved = 0;
    out.probed_unix_ns = info.verdict ? info.verdict->made_unix_ns : 0;
}

void fill(const registry::LoadedDevice& from, wye_load_device& out) {
    const registry::DeviceInfo& info = *from.info;
    out.usable = info.usable ? 1 : 0;
    out.reserved = 0;
    out.selector = to_abi(info.selector);
    out.id = to_abi(info.id);
    out.name = to_abi(info.name);
    out.kind = to_abi(info.facts.text(WYE_FACT_KEY_DEVICE_KIND));
    out.plugin = to_abi(info.plugin);
    out.reason = to_abi(info.reason);
    out.fix = to_abi(info.fix);
    out.physical = to_abi(from.physical);
    out.alias_count = from.aliases.size();
}

void fill(const registry::Alias& from, wye_load_alias& out) {
    out.selector = to_abi(from.selector);
    out.evidence = to_abi(from.evidence);
    out.confidence = to_abi(registry::confidence_name(from.confidence));
}

void fill(const registry::PassedOver& from, wye_load_unmatched& out) {
    out.entry = to_abi(from.subject);
    out.reason = to_abi(from.reason);
    out.fix = to_abi(from.fix);
}

template <typename From, typename Out>
Result<void> one_of(const std::vector<From>& list, std::uint64_t index, Out& out, const char* type,
                    const char* what) {
    WYE_TRY(check_header(out.header, sizeof out, type));
    if (index >= list.size())
        return Error(Code::NOT_FOUND, fmt::format("the load report has {} {}", list.size(), what),
                     "Fix: count from 0 until this error", type);
    fill(list[index], out);
    return {};
}

}  // namespace

wye_status wye_load_report_create(wye_context* context, wye_string selector, wye_load_report** out,
                                  wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_ENTER(self, context);
        WYE_NEED(out);
        WYE_TRY(check_string(selector, "selector"));
        WYE_ASSIGN(registry::LoadReport all, self->load_report(from_abi(selector)));
        *out = new wye_load_report{std::move(all)};
        return {};
    });
}

void wye_load_report_free(wye_load_report* report) { delete report; }

wye_status wye_load_report_record(const wye_load_report* report, uint64_t index,
                                  wye_load_record* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_NEED(report);
        WYE_NEED(out);
        return one_of(report->all.records, index, *out, "wye_load_record", "records");
    });
}

wye_status wye_load_report_plugin(const wye_load_report* report, uint64_t index,
                                  wye_load_plugin* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_NEED(report);
        WYE_NEED(out);
        return one_of(report->all.plugins, index, *out, "wye_load_plugin", "plugins");
    });
}

wye_status wye_load_report_device(const wye_load_report* report, uint64_t index,
                                  wye_load_device* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_NEED(report);
        WYE_NEED(out);
        return one_of(report->all.devices, index, *out, "wye_load_device", "devices");
    });
}

wye_status wye_load_report_alias(const wye_load_report* report, uint64_t device, uint64_t index,
                                 wye_load_alias* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_NEED(report);
        WYE_NEED(out);
        const std::vector<registry::Alias> none;
        const auto& devices = report->all.devices;
        return one_of(device < devices.size() ? devices[device].aliases : none, index, *out,
                      "wye_load_alias", "aliases of this device");
    });
}

wye_status wye_load_report_unmatched(const wye_load_report* report, uint64_t index,
                                     wye_load_unmatched* out, wye_error** error) {
    return guarded(error, [&]() -> Result<void> {
        WYE_NEED(report);
        WYE_NEED(out);
        return one_of(report->all.unmatched, index, *out, "wye_load_unmatched",
                      "entries that name nothing");
    });
}
