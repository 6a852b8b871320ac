// SPDX-License-Identifier: Apache-2.0
//
// Texts about the reasons in a report. All views use these texts, so that all say the same.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "registry/choose/selector.hpp"
#include "views.hpp"

namespace wye::tool {
namespace {

// A plugin that is only for the devices of one vendor, and the vendor's PCI number and name.
struct Vendor {
    std::string_view plugin, number, name;
};
constexpr std::string_view kOwnVendor = "the Wye project";
constexpr Vendor kVendors[] = {{"cuda", "0x10de", "NVIDIA"}};

std::string filter_value(const Report& report, std::string_view name) {
    for (const Report& one : items(report, "filters"))
        if (text(one, "name") == name) return text(one, "value");
    return {};
}

// Like `absent_vendor`, for the plugin whose failure a record describes.
std::string absent_vendor_of(const Report& report, const Report& record) {
    for (const Report& plugin : items(report, "plugins"))
        if (!text(plugin, "id").empty() && text(plugin, "id") == text(record, "plugin") &&
            text(fields(plugin, "reason"), "message") == text(record, "message"))
            return absent_vendor(report, plugin);
    return {};
}

std::string no_device_of(const std::string& vendor) {
    return fmt::format("this machine has no device of {}", vendor);
}

}  // namespace

std::string absent_vendor(const Report& report, const Report& plugin) {
    const auto* const found =
        std::ranges::find(kVendors, std::string_view(text(plugin, "id")), &Vendor::plugin);
    const std::vector<std::string> present = texts(fields(report, "hardware"), "vendors");
    const std::string code = text(fields(plugin, "reason"), "code");
    if (found == std::end(kVendors) || !failed(plugin) || present.empty() ||
        (code != "MISSING_DEPENDENCY" && code != "NO_DEVICE"))
        return {};
    return std::ranges::find(present, found->number) == present.end() ? std::string(found->name)
                                                                      : std::string();
}

std::string state_text(const Report& report, const Report& plugin) {
    const std::string vendor = absent_vendor(report, plugin);
    return vendor.empty() ? text(plugin, "state")
                          : fmt::format("not applicable: {}", no_device_of(vendor));
}

std::string severity_text(const Report& report, const Report& record) {
    return absent_vendor_of(report, record).empty() ? text(record, "severity") : "note";
}

std::string cause_text(const Report& record) {
    const std::string loader = text(record, "loader_text");
    return text(record, "message") + (loader.empty() ? loader : fmt::format(" [{}]", loader));
}

std::string remedy(const Report& report, const Report& record) {
    if (const std::string vendor = absent_vendor_of(report, record); !vendor.empty())
        return fmt::format("Fix: none needed: {}", no_device_of(vendor));
    std::string out = text(record, "fix");
    if (out != "Fix: report this to the plugin's author") return out;
    for (const Report& plugin : items(report, "plugins"))
        if (text(plugin, "id") == text(record, "plugin") && text(plugin, "vendor") == kOwnVendor)
            return fmt::format("Fix: report this to {}", kOwnVendor);
    return out;
}

std::string selector_text(const Report& report) { return filter_value(report, "selector"); }

bool is_from_variable(const Report& report) {
    const auto variable = registry::parse_selector(filter_value(report, "WYE_DEVICE"));
    return !filter_value(report, "WYE_DEVICE").empty() && variable.ok() &&
           to_text(*variable) == selector_text(report);
}

std::optional<Error> no_device(const Report& report) {
    const char* const origin = is_from_variable(report) ? "WYE_DEVICE names " : "";
    if (const Report& unmatched = items(report, "unmatched"); !unmatched.empty()) {
        std::string what;
        for (const Report& one : unmatched)
            what += fmt::format("{}`{}`: {}", what.empty() ? origin : "; ",
                                clean(text(one, "selector")), clean(text(one, "message")));
        return Error(Code::NO_DEVICE, what, clean(text(unmatched.front(), "fix")));
    }
    if (std::ranges::any_of(items(report, "devices"), usable)) return std::nullopt;
    const std::string selector = selector_text(report);
    const bool any = selector.empty() || selector == "auto";
    std::string what =
        any ? "no device is usable"
            : fmt::format("{}`{}`, and no usable device matches it",
                          *origin == 0 ? "the selector is " : origin, clean(selector));
    for (const Report& plugin : items(report, "plugins"))
        if (const std::string vendor = absent_vendor(report, plugin); !vendor.empty() && !any)
            return Error(Code::NO_DEVICE, fmt::format("{}: {}", what, no_device_of(vendor)),
                         "Fix: name another device; `wye info -l -d auto` lists all");
    return Error(Code::NO_DEVICE, what,
                 "Fix: follow `wye info doctor`; `wye info` has the reason against each plugin and "
                 "device");
}

}  // namespace wye::tool
