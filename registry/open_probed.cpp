// SPDX-License-Identifier: Apache-2.0
#include "open_probed.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace wye::registry {
namespace {

// Devices that gave other bytes than they should are not used.
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

Record faulty_check(const Candidate& candidate, const DeviceCheck& check) {
    Record out;
    out.stage = Stage::probed;
    out.severity = Severity::warning;
    out.code = check.code;
    out.message = fmt::format("device `{}`: {}", check.device, check.message);
    out.fix = check.wrong ? "Fix: update the driver; the device is not used until then"
                          : "Fix: update the driver, or use another device if dispatches fail";
    out.path = candidate.library.string();
    out.plugin = candidate.id;
    return out;
}

Record unexplained(const Candidate& candidate) {
    Record out;
    out.stage = Stage::probed;
    out.code = Code::BAD_PLUGIN;
    out.message = "the probe says that the plugin failed, and not why";
    out.fix = fmt::format("Fix: `wye plugins forget {}` probes it again", candidate.id);
    out.path = candidate.library.string();
    out.plugin = candidate.id;
    return out;
}

// Whether the opened plugin is the one that was probed.
bool same(const PluginOpening& opened, const ProbeMessage& probed) {
    return opened.plugin->about().version == probed.version &&
           std::ranges::equal(opened.devices, probed.devices, [](const auto& a, const auto& b) {
               return a->name == b->name &&
                      a->facts.text(WYE_FACT_KEY_DRIVER) == b->facts.text(WYE_FACT_KEY_DRIVER);
           });
}

}  // namespace

PluginOpening open_probed(const Candidate& candidate, const Prober& prober, const Probed& probed,
                          const std::shared_ptr<HostServices>& host) {
    PluginOpening out;
    const std::vector<Record>& unprobed = probed.records;
    out.records = unprobed;
    if (!unprobed.empty() && unprobed.back().severity == Severity::refused) return out;
    if (!probed.verdict) {
        PluginOpening opened = open_plugin(candidate, nullptr, host);
        opened.records.insert(opened.records.begin(), out.records.begin(), out.records.end());
        return opened;
    }
    const Verdict& verdict = *probed.verdict;
    const ProbeMessage& message = verdict.message;
    if (const auto refusal = record_of(verdict, candidate.id, candidate.library.string())) {
        out.records.push_back(*refusal);
        return out;
    }
    std::vector<Record> found;
    for (const DeviceCheck& check : message.checks)
        if (check.code != Code::OK) found.push_back(faulty_check(candidate, check));
    if (prober.describes()) {
        out.records.insert(out.records.end(), found.begin(), found.end());
        // The refusal, if there is one, is the last.
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
        apply_checks(message.checks, out.devices);
        return out;
    }
    PluginOpening opened = open_plugin(candidate, nullptr, host);
    if (!opened.plugin) return opened;
    if (verdict.end == ProbeEnd::good && !same(opened, message)) {
        // The driver changed without a change of its files: the next process probes again.
        prober.forget(candidate);
        return opened;
    }
    for (const Record& record : message.records)
        if (record.stage == Stage::probed) found.push_back(record);
    opened.records.insert(opened.records.begin(), found.begin(), found.end());
    apply_checks(message.checks, opened.devices);
    return opened;
}

}  // namespace wye::registry
