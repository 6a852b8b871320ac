// SPDX-License-Identifier: Apache-2.0
#include "registry/report/report.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>

#include "registry/json.hpp"
#include "registry/open/plugin_text.hpp"
#include "registry/report/load_report.hpp"

namespace wye::registry {
namespace {

constexpr int kSchemaVersion = 1;

Json text_or_null(std::string_view text) {
    return text.empty() ? Json(nullptr) : Json(std::string(text));
}

// Every fact of the ABI header; null for those that the device does not report.
Json facts_of(const Facts& facts) {
    Json out = Json::object();
    for (const FactInfo& info : fact_infos()) {
        const Fact* fact = facts.find(info.key);
        out[std::string(info.name)] = fact == nullptr ? Json(nullptr) : json_of(fact->value);
    }
    return out;
}

// The sources of the facts that have one.
Json sources_of(const Facts& facts) {
    Json out = Json::object();
    for (const FactInfo& info : fact_infos()) {
        const Fact* fact = facts.find(info.key);
        if (fact != nullptr && !fact->source.empty()) out[std::string(info.name)] = fact->source;
    }
    return out;
}

// Why facts are missing; null for those that are present.
Json reasons_of(const Facts& facts) {
    Json out = Json::object();
    for (const FactInfo& info : fact_infos())
        out[std::string(info.name)] = facts.find(info.key) != nullptr
                                          ? Json(nullptr)
                                          : Json(missing_name(facts.missing(info.key)));
    return out;
}

// Milliseconds since the device was asked for its free memory; null if it is not known.
Json age_of(const DeviceInfo& device) {
    if (device.facts.find(WYE_FACT_KEY_FREE_MEMORY_BYTES) == nullptr) return nullptr;
    using std::chrono::milliseconds;
    return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() -
                                                    device.probed)
        .count();
}

Json json_of_record(const Record& record) {
    return {{"stage", stage_name(record.stage)},
            {"severity", severity_name(record.severity)},
            {"code", code_name(record.code)},
            {"message", record.message},
            {"loader_text", text_or_null(record.loader_text)},
            {"fix", text_or_null(record.fix)},
            {"path", text_or_null(record.path)},
            {"plugin", text_or_null(record.plugin)},
            {"missing_library", text_or_null(record.missing_library)}};
}

Json abi_of(const PluginInfo& plugin) {
    if (plugin.abi_major == 0) return nullptr;
    return {{"major", plugin.abi_major}, {"draft", plugin.abi_draft}, {"minor", plugin.abi_minor}};
}

Json probe_of(const PluginInfo& plugin) {
    if (!plugin.verdict) return nullptr;
    const Verdict& verdict = *plugin.verdict;
    return {{"end", end_name(verdict.end)},           {"slot", text_or_null(verdict.slot)},
            {"remembered", verdict.remembered},       {"times", verdict.times},
            {"made_unix_ns", verdict.made_unix_ns},   {"took_ns", verdict.took_ns},
            {"listed_ns", verdict.message.listed_ns}, {"dispatch_ns", verdict.message.dispatch_ns}};
}

Json plugin_of(const LoadedPlugin& loaded, const std::string& compiler) {
    const PluginInfo& plugin = loaded.info;
    const bool ready = loaded.state == LoadedPlugin::State::ready;
    return {{"id", text_or_null(plugin.id)},
            {"name", text_or_null(plugin.backend)},
            {"path", text_or_null(plugin.path)},
            {"abi", abi_of(plugin)},
            {"state", loaded_state_name(loaded.state)},
            {"stage", stage_name(loaded.stage)},
            {"reason", loaded.reason ? json_of_record(*loaded.reason) : Json(nullptr)},
            {"source", loaded.has_source ? Json(source_name(plugin.source)) : Json(nullptr)},
            {"version", text_or_null(plugin.version)},
            {"vendor", text_or_null(plugin.vendor)},
            {"device_count", ready ? Json(plugin.devices.size()) : Json(nullptr)},
            {"compiler", text_or_null(compiler)},
            {"compiler_only", loaded.state == LoadedPlugin::State::failed && !compiler.empty()},
            {"probe", probe_of(plugin)},
            {"probe_state", probe_state_name(plugin.probe)}};
}

Json plugins_of(Registry& registry, const std::vector<LoadedPlugin>& plugins) {
    Json out = Json::array();
    for (const LoadedPlugin& plugin : plugins) {
        const bool opened = plugin.state == LoadedPlugin::State::ready ||
                            plugin.state == LoadedPlugin::State::failed;
        out.push_back(plugin_of(plugin, opened ? one_line(registry.compiler(plugin.info.id)) : ""));
    }
    return out;
}

Json layers_of(const Registry& registry) {
    Json out = Json::array();
    for (const Layer& layer : registry.layers())
        out.push_back({{"name", layer.id}, {"version", layer.version}, {"path", layer.path}});
    return out;
}

Json aliases_of(const std::vector<Alias>& aliases) {
    Json out = Json::array();
    for (const Alias& alias : aliases)
        out.push_back({{"selector", alias.selector},
                       {"evidence", alias.evidence},
                       {"confidence", confidence_name(alias.confidence)}});
    return out;
}

Json device_of(const LoadedDevice& loaded, const ReportOptions& options) {
    const DeviceInfo& device = *loaded.info;
    const std::optional<Requirements>& needs = options.needs;
    Json unmet = nullptr;
    Json unverified = nullptr;
    if (needs) {
        unmet = Json::array();
        const CapabilityCheck result = check(*needs, device.facts);
        for (const Unmet& miss : result.unmet)
            unmet.push_back(
                {{"name", miss.name}, {"needed", miss.needed}, {"actual", miss.actual}});
        unverified = result.unverified;
    }
    return {{"id", device.id},
            {"selector", device.selector},
            {"physical_id", text_or_null(loaded.physical)},
            {"aliases", aliases_of(loaded.aliases)},
            {"name", text_or_null(device.name)},
            {"plugin", device.plugin},
            {"usable", device.usable},
            {"reason", text_or_null(device.reason)},
            {"fix", text_or_null(device.fix)},
            {"native_code", device.native_code},
            {"facts", facts_of(device.facts)},
            {"fact_sources", options.explains ? sources_of(device.facts) : Json(nullptr)},
            {"fact_reasons", options.explains ? reasons_of(device.facts) : Json(nullptr)},
            {"free_memory_age_ms", age_of(device)},
            {"formats", device.formats},
            {"quirks", options.quirks ? Json(options.quirks(device)) : Json(nullptr)},
            {"operations",
             options.operations && device.usable ? options.operations(device) : Json(nullptr)},
            {"unmet", std::move(unmet)},
            {"unverified", std::move(unverified)}};
}

Json host_of(const ReportOptions& options) {
    struct utsname name {};
    const bool known = ::uname(&name) == 0;
    const long cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
    return {{"version", text_or_null(options.host_version)},
            {"abi",
             {{"major", WYE_ABI_MAJOR},
              {"draft", WYE_ABI_MINOR_DRAFT},
              {"minor", WYE_ABI_MINOR},
              {"minor_floor", WYE_ABI_MINOR_FLOOR}}},
            {"arch", host_arch()},
            {"system", known ? Json(name.sysname) : Json(nullptr)},
            {"kernel", known ? Json(name.release) : Json(nullptr)},
            {"processors", cpus > 0 ? Json(cpus) : Json(nullptr)}};
}

Json physical_of(const Registry::PhysicalListing& physical) {
    Json out = Json::array();
    for (const Registry::Physical& one : physical.devices) {
        Json selectors = Json::array();
        for (const auto& device : one.devices) selectors.push_back(device->selector);
        out.push_back({{"id", one.id},
                       {"identifier", one.identifier},
                       {"name", text_or_null(one.devices.front()->name)},
                       {"devices", std::move(selectors)}});
    }
    return out;
}

Json doubts_of(const Registry::PhysicalListing& physical) {
    Json out = Json::array();
    for (const auto& doubt : physical.doubts)
        out.push_back({{"devices", std::vector<std::string>{doubt.first, doubt.second}},
                       {"reason", doubt.why}});
    return out;
}

Json unmatched_list(const std::vector<PassedOver>& unmatched) {
    Json out = Json::array();
    for (const PassedOver& one : unmatched)
        out.push_back(
            {{"selector", one.subject}, {"message", one.reason}, {"fix", text_or_null(one.fix)}});
    return out;
}

Json filters_of(const ReportOptions& options) {
    Json out = Json::array();
    out.push_back({{"name", "selector"}, {"value", to_text(options.selector)}});
    for (const auto& [name, value] : options.filters)
        out.push_back({{"name", name}, {"value", value}});
    return out;
}

// The reason that a verdict gives against a plugin; null: there is none.
Json reason_of(const Registry::Remembered& one) {
    if (!one.verdict || one.verdict->trusted) return nullptr;
    if (const auto harm = record_of(*one.verdict, one.id, one.path)) return json_of_record(*harm);
    for (const Record& record : one.verdict->message.records)
        if (record.severity == Severity::refused) return json_of_record(record);
    return nullptr;
}

}  // namespace

std::string report_json(Registry& registry, const ReportOptions& given) {
    ReportOptions options = given;
    if (options.selector.entries.empty()) options.selector.entries.emplace_back();
    const LoadReport loaded = load_report(registry, options.selector);
    Json order = Json::array();
    for (const std::size_t place : loaded.order)
        order.push_back(loaded.devices[place].info->selector);
    Json out;
    out["schema_version"] = kSchemaVersion;
    out["host"] = host_of(options);
    out["filters"] = filters_of(options);
    out["picks"] = loaded.picked ? Json(loaded.devices[*loaded.picked].info->selector) : Json();
    out["order"] = std::move(order);
    out["layers"] = layers_of(registry);
    out["plugins"] = plugins_of(registry, loaded.plugins);
    out["devices"] = Json::array();
    for (const LoadedDevice& device : loaded.devices)
        out["devices"].push_back(device_of(device, options));
    out["records"] = Json::array();
    for (const Record& record : loaded.records) out["records"].push_back(json_of_record(record));
    out["physical_devices"] = physical_of(loaded.physical);
    out["doubts"] = doubts_of(loaded.physical);
    out["unmatched"] = unmatched_list(loaded.unmatched);
    return out.dump(options.indent);
}

std::string verdicts_json(const Registry& registry) {
    Json out = Json::array();
    for (const Registry::Remembered& one : registry.remembered()) {
        const Verdict verdict = one.verdict.value_or(Verdict{});
        const std::string_view name = verdict.trusted ? "trusted" : end_name(verdict.end);
        out.push_back({{"id", one.id},
                       {"path", one.path},
                       {"verdict", one.verdict ? Json(name) : Json(nullptr)},
                       {"quarantined", quarantined(verdict)},
                       {"times", one.verdict ? verdict.times : 0U},
                       {"slot", text_or_null(verdict.slot)},
                       {"how", text_or_null(verdict.how)},
                       {"printed", text_or_null(verdict.output)},
                       {"reason", reason_of(one)},
                       {"made_unix_ns", verdict.made_unix_ns},
                       {"took_ns", verdict.took_ns},
                       {"device_count", verdict.message.ready ? Json(verdict.message.devices.size())
                                                              : Json(nullptr)}});
    }
    return out.dump(2);
}

}  // namespace wye::registry
