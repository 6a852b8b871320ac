// SPDX-License-Identifier: Apache-2.0
#include "differential/quirks_audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "differential/target.hpp"
#include "quirk_regressions.hpp"

namespace differential {
namespace {

using nlohmann::json;
using wye::lower::quirk_entries;
using wye::lower::QuirkEntry;

struct Device {
    std::string selector;
    std::vector<std::string> formats, quirks;
};

std::vector<Device> devices_here() {
    std::vector<Device> out;
    const json report = json::parse(report_of_devices(), nullptr, false);
    if (!report.is_object()) return out;
    for (const json& device : report.value("devices", json::array()))
        if (device.value("usable", false))
            out.push_back({device.value("selector", ""),
                           device.value("formats", std::vector<std::string>{}),
                           device.value("quirks", std::vector<std::string>{})});
    return out;
}

bool takes_format(const Device& device, const QuirkEntry& entry) {
    return std::ranges::any_of(device.formats, [&](const std::string& format) {
        wye::lower::QuirkSet one;
        one.set(entry.id);
        return one.for_format(format) == one;
    });
}

std::string_view how_it_fails(const Finding& finding) {
    if (finding.kind == Finding::Kind::Ended)
        return finding.text.find("signal 14") == std::string::npos ? "crash" : "hang";
    if (finding.kind == Finding::Kind::Error && finding.code == wye::Code::TIMEOUT) return "hang";
    if (finding.kind == Finding::Kind::Error && finding.code == wye::Code::COMPILE_FAILED)
        return "does not compile";
    return finding.kind == Finding::Kind::Bytes ? "wrong bytes" : "error";
}

Finding replay(const std::string& selector, const Case& what, const char* key,
               std::string_view quirk, double timeout) {
    TargetOptions options;
    options.timeout_ns = static_cast<std::uint64_t>(timeout * 1e9);
    options.config = {{key, std::string(quirk)}};
    // Adds time for opening and closing the device, and for the oracle.
    options.ends_after = static_cast<unsigned>(timeout * 2) + 30;
    auto target = Target::open(selector, std::move(options));
    if (!target.ok()) return {Finding::Kind::Error, target.error().code, target.error().message};
    return target->judge(what, support::kTrusted);
}

wye::Result<Audited> audit_one(const Device& device, const QuirkEntry& entry, double timeout) {
    const auto found =
        std::ranges::find(kQuirkRegressions, entry.regression, &QuirkRegression::file);
    if (found == std::end(kQuirkRegressions))
        return wye::Error(wye::Code::INTERNAL,
                          fmt::format("the regression `{}` of the quirk `{}` was not built in",
                                      entry.regression, entry.name),
                          "Fix: report this");
    WYE_ASSIGN(const Case what, support::read_case(std::string(found->text)));
    Audited out;
    out.device = device.selector;
    out.quirk = entry.name;
    out.active = std::ranges::count(device.quirks, entry.name) != 0;
    const Finding without = replay(device.selector, what, "quirks.without", entry.name, timeout);
    if (without.kind == Finding::Kind::Useless) {
        out.need = Need::NotRunHere;
        out.how = without.text;
    } else if (without.differs()) {
        const Finding with = replay(device.selector, what, "quirks.with", entry.name, timeout);
        out.need = with.differs() ? Need::Failing : Need::Needed;
        out.how = with.differs() ? with.text : std::string(how_it_fails(without));
    }
    return out;
}

}  // namespace

std::string_view need_text(Need need) {
    switch (need) {
        case Need::Needed:
            return "needed";
        case Need::NotSeenHere:
            return "not seen here";
        case Need::Failing:
            return "wrong with it too";
        case Need::NotRunHere:
            break;
    }
    return "not run here";
}

wye::Result<void> audit(const AuditOptions& options,
                        const std::function<void(const Audited&)>& each) {
    const std::vector<Device> here = devices_here();
    bool any = false;
    for (const Device& device : here) {
        const auto matches = [&](const std::string& selector) {
            return device.selector == selector || device.selector.starts_with(selector + ":");
        };
        if (!options.devices.empty() && std::ranges::none_of(options.devices, matches)) continue;
        any = true;
        for (const QuirkEntry& entry : quirk_entries()) {
            const bool asked =
                options.only.empty() || std::ranges::count(options.only, entry.name) != 0;
            if (!asked || !takes_format(device, entry)) continue;
            WYE_ASSIGN(const Audited result, audit_one(device, entry, options.timeout));
            each(result);
        }
    }
    if (any) return {};
    return wye::Error(wye::Code::NO_DEVICE, "there is no usable device to audit",
                      "Fix: see `wye info`, and name its selectors in --devices");
}

}  // namespace differential
