// SPDX-License-Identifier: Apache-2.0
#include "exec/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "wye/sdk/numbers.hpp"

namespace wye::exec {
namespace {

constexpr Setting kSettings[] = {
    {"cache_folder", "the folder of compiled programs, instead of `WYE_CACHE_DIR`"},
    {"cache_size",
     "maximum size of the cache of compiled programs, instead of `WYE_CACHE_SIZE`; 0: off"},
    {"layers", "layers over every plugin, separated by commas, instead of `WYE_LAYERS`"},
    {"memory.context_limit",
     "device memory that all devices hold together at most, for buffers and scratch memory; none"},
    {"memory.device_limit",
     "device memory that each device holds at most, for buffers and scratch memory; none"},
    {"pending.bytes", "host memory that asynchronous work of a device owns at most; 1GiB"},
    {"pending.count", "asynchronous work of a device in flight at most; 1024"},
    {"probe.helper", "the program that probes plugins, instead of the installed `wye-probe`"},
    {"probe.memory_bytes",
     "memory that the probe of a plugin may take; 4GiB, or half of the machine's"},
    {"probe.mode", "`auto`, `child`, `inline` or `off`, instead of `WYE_PROBE`"},
    {"probe.timeout_ms",
     "milliseconds that the probe of a plugin may take, plus up to nine times that time while it "
     "waits for a processor; 10000"},
    {"queues.count", "native queues of a device for work without a public queue; at most 4"},
    {"quirks.with", "workarounds that are on, by name, or `all`"},
    {"quirks.without", "workarounds that are off, by name, or `all`"},
    {"report.details",
     "`all`; `facts` leaves the operations of devices out of reports; `brief` also the sources of "
     "facts"},
    {"trace.events", "events that a trace keeps, the newest; 1000000"},
    {"trace.file", "the file of a trace, instead of `WYE_TRACE`"},
    {"transfer.bytes", "staging memory of a device; 512MiB, or an eighth of the machine's"},
    {"transfer.staging", "`auto`, `on` or `off`"},
    {"transfer.threads", "threads that copy at once; half of the processors, at most 8"},
};

// The part of a key before the first dot (`trace` of `trace.file`); empty if there is no dot.
std::string_view area_of(std::string_view key) {
    const std::size_t dot = key.find('.');
    return dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
}

constexpr std::string_view kLayerArea = "layer";  // keys of layers: `layer.NAME.KEY`

// Whether a key is a copy of an environment variable, which plugins may ask for.
bool is_variable(std::string_view key) { return key.starts_with("env."); }

bool is_setting(std::string_view key) {
    return std::ranges::find(kSettings, key, &Setting::key) != std::end(kSettings);
}
// Whether only the library can read the key: it has no dot, or its area is one of the library's.
bool is_ours(std::string_view key) {
    return std::ranges::any_of(
        kSettings, [&](const Setting& setting) { return area_of(setting.key) == area_of(key); });
}

Result<void> check_keys(const registry::Config& config) {
    for (const auto& [key, value] : config) {
        if (is_variable(key) || is_setting(key) || !is_ours(key)) continue;
        std::string known;
        for (const Setting& setting : kSettings)
            if (area_of(setting.key) == area_of(key))
                known += fmt::format("{}`{}`", known.empty() ? "" : ", ", setting.key);
        return Error(
            Code::INVALID_ARGUMENT,
            fmt::format("the configuration has a key `{}`, which nothing reads", key),
            fmt::format("Fix: use one of {}; keys of a plugin begin with its id and a dot", known),
            key);
    }
    return {};
}

// The name under which users know a key: with its environment variable, if it has one.
std::string name_of(std::string_view key) {
    constexpr std::pair<std::string_view, std::string_view> kVariables[] = {
        {"probe.timeout_ms", "WYE_PROBE_TIMEOUT_MS"}, {"probe.memory_bytes", "WYE_PROBE_MEMORY"}};
    const auto* const found =
        std::ranges::find(kVariables, key, &std::pair<std::string_view, std::string_view>::first);
    return found == std::end(kVariables) ? std::string(key)
                                         : fmt::format("{} (or `{}`)", found->second, key);
}

// Whether the limit with this key is a number of bytes.
bool is_size(std::string_view key) { return key.ends_with("bytes") || area_of(key) == "memory"; }

Result<void> read_limit(const registry::Config& config, const char* key, std::uint64_t& out) {
    const auto given = config.find(key);
    if (given == config.end()) return {};
    const auto size = sdk::parse_size(given->second);
    if (!size || *size == 0)
        return Error(
            Code::INVALID_ARGUMENT,
            fmt::format("`{}` is not a limit for {}", given->second, name_of(key)),
            fmt::format("Fix: give a number above 0, as in {}", is_size(key) ? "64MiB" : "1024"),
            key);
    out = *size;
    return {};
}

// The named values of a key, in the order in which the remedy lists them.
template <typename Value>
using NamedValues = std::initializer_list<std::pair<std::string_view, Value>>;

template <typename Value>
Result<void> read_choice(const registry::Config& config, const char* key,
                         NamedValues<Value> choices, Value& out) {
    const auto given = config.find(key);
    if (given == config.end()) return {};
    std::string names;
    for (const auto& [name, value] : choices) {
        if (name == given->second) {
            out = value;
            return {};
        }
        names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    }
    return Error(Code::INVALID_ARGUMENT, fmt::format("`{}` is no value of {}", given->second, key),
                 fmt::format("Fix: give one of {}", names), key);
}

}  // namespace

Result<void> read_probe(const registry::Config& config, registry::ProbeOptions& out) {
    if (const auto mode = config.find("probe.mode"); mode != config.end()) {
        const auto known = registry::probe_mode_of(mode->second);
        if (!known)
            return Error(Code::INVALID_ARGUMENT,
                         fmt::format("`{}` is not a way to probe plugins", mode->second),
                         "Fix: give auto, child, inline or off, in WYE_PROBE or probe.mode",
                         "probe.mode");
        out.mode = *known;
    }
    if (const auto helper = config.find("probe.helper"); helper != config.end()) {
        out.helper = helper->second;
        if (!out.helper.is_absolute())
            return Error(Code::INVALID_ARGUMENT,
                         fmt::format("the helper `{}` of probe.helper is not an absolute path",
                                     helper->second),
                         "Fix: give its full path", "probe.helper");
    }
    std::uint64_t limit = static_cast<std::uint64_t>(out.limit.count());
    WYE_TRY(read_limit(config, "probe.timeout_ms", limit));
    constexpr std::uint64_t kMostMs = 3'600'000;
    out.limit = std::chrono::milliseconds(std::min(limit, kMostMs));
    WYE_TRY(read_limit(config, "probe.memory_bytes", out.memory));
    return {};
}

std::span<const Setting> settings() noexcept { return kSettings; }

Result<SessionOptions> read_settings(const registry::Config& config) {
    WYE_TRY(check_keys(config));
    SessionOptions out;
    for (const auto& [key, set] : {std::pair("quirks.with", &out.quirks.with),
                                   std::pair("quirks.without", &out.quirks.without)}) {
        const auto given = config.find(key);
        if (given == config.end()) continue;
        WYE_ASSIGN(*set, lower::parse_quirks(given->second));
    }
    WYE_TRY(read_limit(config, "memory.context_limit", out.context_memory_limit));
    WYE_TRY(read_limit(config, "memory.device_limit", out.device_memory_limit));
    WYE_TRY(read_limit(config, "pending.count", out.pending.count));
    WYE_TRY(read_limit(config, "pending.bytes", out.pending.bytes));
    WYE_TRY(read_limit(config, "queues.count", out.queues));
    WYE_TRY(read_limit(config, "transfer.threads", out.transfer.threads));
    WYE_TRY(read_limit(config, "transfer.bytes", out.transfer.bytes));
    using Staging = TransferOptions::Staging;
    const NamedValues<Staging> staging = {
        {"auto", Staging::Auto}, {"on", Staging::On}, {"off", Staging::Off}};
    WYE_TRY(read_choice(config, "transfer.staging", staging, out.transfer.staging));
    const NamedValues<ReportDetails> details = {{"all", ReportDetails::All},
                                                {"facts", ReportDetails::Facts},
                                                {"brief", ReportDetails::Brief}};
    WYE_TRY(read_choice(config, "report.details", details, out.report_details));
    return out;
}

std::vector<std::string_view> keys_of_nobody(const registry::Config& config,
                                             std::span<const std::string> plugins) {
    std::vector<std::string_view> out;
    for (const auto& [key, value] : config)
        if (!is_variable(key) && !is_ours(key) && area_of(key) != kLayerArea &&
            std::ranges::find(plugins, area_of(key)) == plugins.end())
            out.push_back(key);
    return out;
}

}  // namespace wye::exec
