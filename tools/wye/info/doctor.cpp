// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "views.hpp"

namespace wye::tool {
namespace {

std::string without_fix(std::string text) {
    constexpr std::string_view kFix = "Fix: ";
    return text.starts_with(kFix) ? text.substr(kFix.size()) : text;
}

std::string info_of(const std::string& selector) { return "wye info -l -d " + selector; }

// A wrong path in a driver's variable hides its devices, so it is the most likely cause of other
// faults.
void add_variables(const Report& report, std::vector<Advice>& out) {
    for (const Report& variable : items(report, "environment")) {
        const std::string name = text(variable, "name");
        const std::string owner = text(variable, "owner");
        const std::vector<std::string> missing = texts(variable, "missing");
        if (missing.empty() || !flag(variable, "in_effect")) continue;
        const bool driver = owner == "opencl" || owner == "vulkan" || owner == "cuda";
        out.push_back({"path " + name, fmt::format("variable `{}`", name),
                       fmt::format("it names `{}`, which does not exist", missing.front()),
                       fmt::format("unset {}, or correct its path", name),
                       driver ? info_of(owner) : "wye info doctor"});
    }
}

void add_plugins(const Report& report, std::vector<Advice>& out) {
    for (const Report& plugin : items(report, "plugins")) {
        if (!failed(plugin) || !absent_vendor(report, plugin).empty()) continue;
        std::string id = text(plugin, "id");
        if (id.empty()) id = text(plugin, "path");
        const Report& reason = fields(plugin, "reason");
        const bool opened = text(plugin, "state") == "failed";
        out.push_back({"plugin " + id, fmt::format("plugin `{}`", id), text(reason, "message"),
                       without_fix(remedy(report, reason)),
                       opened ? info_of(id) : "wye info doctor"});
    }
}

void add_devices(const Report& report, std::vector<Advice>& out) {
    for (const Report& device : items(report, "devices")) {
        if (usable(device)) continue;
        const std::string selector = text(device, "selector");
        out.push_back({"device " + selector, fmt::format("device `{}`", selector),
                       text(device, "reason"), without_fix(text(device, "fix")),
                       info_of(selector)});
    }
}

// Whether the user of this machine can apply the fix.
bool is_up_to_the_user(const std::string& fix) {
    return !fix.empty() && !fix.starts_with("none needed") &&
           !fix.starts_with("report this to the ");
}

// Warnings about plugins that are used nevertheless.
void add_warnings(const Report& report, std::vector<Advice>& out) {
    for (const Report& record : items(report, "records")) {
        if (text(record, "severity") != "warning" ||
            !is_up_to_the_user(without_fix(text(record, "fix"))))
            continue;
        std::string subject = text(record, "plugin");
        if (subject.empty()) subject = text(record, "path");
        const std::string message = text(record, "message");
        out.push_back({"warning " + subject + " " + message,
                       subject.empty() ? "this machine" : fmt::format("plugin `{}`", subject),
                       message, without_fix(text(record, "fix")), "wye info doctor"});
    }
}

// Contradictory statements of two plugins about what may be one device.
void add_doubts(const Report& report, std::vector<Advice>& out) {
    for (const Report& doubt : items(report, "doubts")) {
        const std::vector<std::string> devices = texts(doubt, "devices");
        if (devices.size() != 2) continue;
        out.push_back({fmt::format("doubt {} {}", devices[0], devices[1]),
                       fmt::format("devices `{}` and `{}`", devices[0], devices[1]),
                       fmt::format("they may be one: {}", text(doubt, "reason")),
                       "update the drivers of both", "wye info -v"});
    }
}

// Plugins without test dispatches: a fault of theirs would end the application.
void add_unprobed(const Report& report, std::vector<Advice>& out) {
    for (const Report& plugin : items(report, "plugins")) {
        if (text(plugin, "state") != "ready" || text(plugin, "probe_state") != "off") continue;
        const std::string id = text(plugin, "id");
        out.push_back({"unprobed " + id, fmt::format("plugin `{}`", id),
                       "it is opened without a probe, so that a fault of it ends the application",
                       "unset WYE_PROBE and install wye-probe beside libwye", "wye info doctor"});
    }
}

void add_misspelt(const Report& report, std::vector<Advice>& out) {
    for (const Report& variable : items(report, "environment")) {
        // A known variable has a note about its meaning. With raised privileges a variable may have
        // no effect.
        if (flag(variable, "in_effect") || !text(variable, "about").empty()) continue;
        const std::string name = text(variable, "name");
        out.push_back({"name " + name, fmt::format("variable `{}`", name), text(variable, "note"),
                       fmt::format("unset {}, or correct its name", name), "wye info env"});
    }
}

// The plugins for the devices of one vendor, with its number on the PCI bus.
struct Vendor {
    std::string_view plugin, number, name;
};
constexpr std::string_view kOwnVendor = "the Wye project";
constexpr Vendor kVendors[] = {{"cuda", "0x10de", "NVIDIA"}};

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

std::string remedy(const Report& report, const Report& record) {
    std::string out = text(record, "fix");
    if (out != "Fix: report this to the plugin's author") return out;
    for (const Report& plugin : items(report, "plugins"))
        if (text(plugin, "id") == text(record, "plugin") && text(plugin, "vendor") == kOwnVendor)
            return fmt::format("Fix: report this to {}", kOwnVendor);
    return out;
}

std::vector<Advice> advice(const Report& report) {
    std::vector<Advice> out;
    const Report& devices = items(report, "devices");
    add_variables(report, out);
    // If no device works, plugins come before single devices; else devices that nearly work come
    // first.
    const bool works = std::ranges::any_of(devices, usable);
    if (works) add_devices(report, out);
    add_plugins(report, out);
    if (!works) add_devices(report, out);
    add_warnings(report, out);
    add_unprobed(report, out);
    add_doubts(report, out);
    add_misspelt(report, out);
    if (devices.empty() && out.empty())
        out.push_back({"no device", "this machine", "there is no device",
                       "install a plugin and the driver that it uses", "wye info -l"});
    return out;
}

std::string advice_view(const Report& report, const std::vector<Advice>& found,
                        const Style& style) {
    std::string out;
    std::size_t place = 0;
    for (const Advice& one : found) {
        const std::string margin(4, ' ');
        out += wrapped(style, padded(fmt::format("{}.", ++place), 4),
                       fmt::format("{}: {}", one.subject, one.problem));
        if (!one.fix.empty())
            out += wrapped(style, margin + ink(style, Ink::good, "Fix: "), one.fix);
        out += wrapped(style, margin + "Check: ", one.check);
    }
    if (out.empty()) out = "nothing to change\n";
    for (const Report& plugin : items(report, "plugins"))
        if (const std::string vendor = absent_vendor(report, plugin); !vendor.empty())
            out += wrapped(style, "not applicable: ",
                           fmt::format("plugin `{}`: this machine has no device of {}",
                                       text(plugin, "id"), vendor));
    return out;
}

std::string progress_view(const Report& before, const Report& now, const Style& style,
                          std::size_t& left) {
    const std::vector<Advice> earlier = advice(before);
    const std::vector<Advice> later = advice(now);
    const auto within = [](const std::vector<Advice>& all, const Advice& one) {
        return std::ranges::any_of(all, [&](const Advice& a) { return a.key == one.key; });
    };
    std::string out;
    left = 0;
    for (const Advice& one : earlier) {
        const bool helped = !within(later, one);
        left += helped ? 0 : 1;
        out += wrapped(
            style, helped ? ink(style, Ink::good, "helped: ") : ink(style, Ink::bad, "not yet: "),
            helped ? one.subject : fmt::format("{}: {}", one.subject, one.problem));
    }
    for (const Advice& one : later) {
        if (within(earlier, one)) continue;
        ++left;
        out += wrapped(style, ink(style, Ink::bad, "new: "),
                       fmt::format("{}: {}", one.subject, one.problem));
    }
    return out.empty() ? "nothing to change, then and now\n" : out;
}

}  // namespace wye::tool
