// SPDX-License-Identifier: Apache-2.0
#include "registry/probe/open_probed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "registry/open/driver_objects.hpp"
#include "registry/probe/opening_mark.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::registry {
namespace {

// Marks each device as unusable whose test dispatch gave wrong bytes.
void apply_checks(const std::vector<DeviceCheck>& checks,
                  std::vector<std::shared_ptr<const DeviceInfo>>& devices) {
    for (auto& device : devices) {
        const auto check = std::ranges::find(checks, device->selector, &DeviceCheck::device);
        if (check == checks.end() || !check->wrong || !device->usable) continue;
        auto changed = std::make_shared<DeviceInfo>(*device);
        changed->usable = false;
        changed->reason = check->message;
        changed->fix = fmt::format(
            "Fix: update the driver, or use another device; `wye plugins trust {}` uses it as it "
            "is",
            device->plugin);
        device = std::move(changed);
    }
}

Record faulty_check(const Candidate& candidate, const DeviceCheck& check, bool trusted) {
    Record out = record_about(candidate, Stage::probed, Severity::warning, check.code);
    out.message = fmt::format("device `{}`: {}", check.device, check.message);
    out.fix = check.wrong && !trusted
                  ? "Fix: update the driver; the device is not used until then"
                  : "Fix: update the driver, or use another device if dispatches fail";
    return out;
}

// Changes the refusal of a harmful plugin that the user trusts. If the probe got as far as the
// plugin's devices (`ready`), they are used, and the refusal becomes a warning.
void spare(Record& refusal, bool ready) {
    if (ready) refusal.severity = Severity::warning;
    refusal.fix = fmt::format(
        "Fix: update the plugin or its driver; the plugin is trusted, so it is opened unprobed{} "
        "(`wye plugins forget {}` ends the trust)",
        ready ? "" : " to run programs, but its devices cannot be described", refusal.plugin);
}

Record unexplained(const Candidate& candidate) {
    Record out = record_about(candidate, Stage::probed, Severity::refused, Code::BAD_PLUGIN);
    out.message = "the probe says that the plugin failed, and not why";
    out.fix = fmt::format("Fix: `wye plugins forget {}` probes it again", candidate.id);
    return out;
}

// How the opened plugin differs from its verdict; empty: they agree.
std::string difference(const PluginOpening& opened, const Verdict& verdict) {
    const ProbeMessage& probed = verdict.message;
    if (verdict.end == ProbeEnd::refused)
        return "the plugin failed in the probe, but works in this process";
    const auto differs = [](std::string_view what, std::string_view then, std::string_view now) {
        return fmt::format("the probe says {} `{}`, the plugin says `{}`", what, then, now);
    };
    if (const std::string& version = opened.plugin->about().version; version != probed.version)
        return differs("version", probed.version, version);
    if (opened.devices.size() != probed.devices.size())
        return fmt::format("the probe found {} device(s), the plugin says {}",
                           probed.devices.size(), opened.devices.size());
    for (std::size_t i = 0; i < opened.devices.size(); ++i) {
        const DeviceInfo& now = *opened.devices[i];
        const DeviceInfo& then = *probed.devices[i];
        const auto of = [&](const char* what) {
            return fmt::format("that {} of `{}` is", what, now.selector);
        };
        if (now.name != then.name) return differs(of("the name"), then.name, now.name);
        if (const std::string_view driver = now.facts.text(WYE_FACT_KEY_DRIVER),
            before = then.facts.text(WYE_FACT_KEY_DRIVER);
            driver != before)
            return differs(of("the driver"), before, driver);
    }
    return {};
}

Record outdated(const Candidate& candidate, std::string what) {
    Record out = record_about(candidate, Stage::probed, Severity::warning, Code::PLUGIN_FAULT);
    out.message = fmt::format("the verdict on the plugin is outdated: {}", what);
    out.fix =
        "Fix: none needed: the plugin is probed again; if the verdict is outdated again, the "
        "manifest's `watches` should name what the driver depends on";
    return out;
}

// Makes the host services for a probed plugin. Their configuration also has what the probe found,
// which the plugin reads through wye/sdk/findings.hpp.
std::shared_ptr<HostServices> with_findings(const std::shared_ptr<HostServices>& host,
                                            const ProbeMessage& message) {
    Config config = {{"probed", "1"}};
    for (const auto& device : message.devices) {
        std::string& names = config[fmt::format("probed.{}", device->index)];
        for (const FactInfo& fact : fact_infos())
            if (device->facts.has(fact.key)) names.append(fact.name).append(" ");
    }
    config.insert(host->config().begin(), host->config().end());
    return HostServices::create(
        std::move(config),
        [host](std::uint32_t level, std::string_view area, std::string_view text) {
            host->log(level, area, text);
        },
        [host](std::string_view name, std::uint32_t version) {
            const wye_host_table& table = host->table();
            return table.get_extension(table.self, sdk::to_abi(name), version);
        });
}

// Warns of a compiler library (LLVM, Clang) that this process loaded from another file than the
// driver does: the driver's calls may go to the wrong library.
std::vector<Record> strange_compilers(const Candidate& candidate, const Verdict& verdict) {
    constexpr std::string_view kCompilers[] = {"libLLVM", "libclang"};
    std::vector<Record> out;
    const std::vector<std::string>& own = verdict.message.libraries;
    std::vector<DriverObjects::Object> loaded;
    for (const std::string_view compiler : kCompilers) {
        const auto is_compiler = [&](std::string_view path) {
            return path.substr(path.rfind('/') + 1).starts_with(compiler);
        };
        if (std::ranges::none_of(own, is_compiler)) continue;
        if (loaded.empty()) loaded = DriverObjects::loaded();
        for (const DriverObjects::Object& object : loaded) {
            if (!is_compiler(object.name) || std::ranges::find(own, object.name) != own.end())
                continue;
            Record record = record_about(candidate, Stage::probed, Severity::warning, Code::DRIVER);
            record.message = fmt::format(
                "this process has loaded `{}`, and the plugin's driver brings `{}`: the driver may "
                "crash if both are used",
                object.name, *std::ranges::find_if(own, is_compiler));
            record.fix =
                "Fix: use one version of it in the application and the driver, or load it with "
                "RTLD_LOCAL and without LD_PRELOAD";
            out.push_back(std::move(record));
        }
    }
    return out;
}

std::vector<Record> faulty_checks(const Candidate& candidate, const Verdict& verdict) {
    std::vector<Record> out;
    for (const DeviceCheck& check : verdict.message.checks)
        if (check.code != Code::OK) out.push_back(faulty_check(candidate, check, verdict.trusted));
    return out;
}

// Adds the findings of the probe that opening the plugin does not show.
void add_findings(const Candidate& candidate, const Verdict& verdict, PluginOpening& opened) {
    std::vector<Record> found = faulty_checks(candidate, verdict);
    for (const Record& record : verdict.message.records)
        if (record.stage == Stage::probed) found.push_back(record);
    opened.records.insert(opened.records.begin(), found.begin(), found.end());
    apply_checks(verdict.message.checks, opened.devices);
}

// Probes again, because the opened plugin contradicts its verdict. The new verdict counts.
void renew(const Candidate& candidate, const Prober& prober, Probed& probed,
           PluginOpening& opened) {
    prober.drop_verdicts(candidate);
    const Candidate* const one[] = {&candidate};
    probed = prober.probe(one).front();
    opened.records.insert(opened.records.begin(), probed.records.begin(), probed.records.end());
    if (!probed.verdict) return;
    auto refusal = record_of(*probed.verdict, candidate.id, candidate.library.string());
    if (!refusal) return add_findings(candidate, *probed.verdict, opened);
    opened.devices.clear();
    opened.plugin.reset();
    opened.records.push_back(std::move(*refusal));
}

}  // namespace

PluginOpening open_probed(const Candidate& candidate, const Prober& prober, Probed& probed,
                          const std::shared_ptr<HostServices>& host,
                          const std::shared_ptr<const Layers>& layers) {
    PluginOpening out;
    const std::vector<Record>& unprobed = probed.records;
    out.records = unprobed;
    if (!unprobed.empty() && unprobed.back().severity == Severity::refused) return out;
    if (!probed.verdict) {
        PluginOpening opened = open_plugin(candidate, nullptr, host, layers);
        opened.records.insert(opened.records.begin(), out.records.begin(), out.records.end());
        return opened;
    }
    const Verdict& verdict = *probed.verdict;
    const ProbeMessage& message = verdict.message;
    if (auto refusal = record_of(verdict, candidate.id, candidate.library.string())) {
        const bool used = verdict.trusted && message.ready;
        if (verdict.trusted) spare(*refusal, used);
        out.records.push_back(std::move(*refusal));
        if (!used) return out;
    }
    if (prober.describes()) {
        const std::vector<Record> found = faulty_checks(candidate, verdict);
        out.records.insert(out.records.end(), found.begin(), found.end());
        // Puts a refusal last, where readers of the records look for it.
        std::vector<Record> own = message.records;
        std::stable_partition(own.begin(), own.end(),
                              [](const Record& r) { return r.severity != Severity::refused; });
        out.records.insert(out.records.end(), own.begin(), own.end());
        if (!message.ready) {
            if (own.empty() || own.back().severity != Severity::refused)
                out.records.push_back(unexplained(candidate));
            return out;
        }
        out.described = Described{message.version, message.vendor, message.abi_minor};
        out.devices = message.devices;
        if (!verdict.trusted) apply_checks(message.checks, out.devices);
        return out;
    }
    std::vector<Record> strangers = strange_compilers(candidate, verdict);
    PluginOpening opened = [&] {
        const OpeningMark mark = prober.mark(probed);
        return open_plugin(candidate, nullptr, with_findings(host, message), layers);
    }();
    out.records.insert(out.records.end(), std::make_move_iterator(strangers.begin()),
                       std::make_move_iterator(strangers.end()));
    opened.records.insert(opened.records.begin(), out.records.begin(), out.records.end());
    if (!opened.plugin) {
        if (verdict.end == ProbeEnd::good && opened.records.back().stage >= Stage::negotiated)
            prober.drop_verdicts(candidate);  // `wye info` must not report the plugin as good
        return opened;
    }
    if (std::string what = difference(opened, verdict); !what.empty()) {
        // The driver behaves differently although none of its files changed.
        opened.records.insert(opened.records.begin(), outdated(candidate, std::move(what)));
        if (verdict.remembered) {
            renew(candidate, prober, probed, opened);
            return opened;
        }
        // The verdict is new, so another probe would not help: the plugin reports one thing to the
        // helper, and another thing in this process.
    }
    add_findings(candidate, verdict, opened);
    return opened;
}

}  // namespace wye::registry
