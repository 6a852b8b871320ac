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

// "plugin `cuda`", or the file or folder that gave no plugin.
std::string subject_of(const std::string& id, const std::string& path) {
    if (!id.empty()) return fmt::format("plugin `{}`", id);
    return path.empty() ? "this machine" : fmt::format("`{}`", path);
}

// Adds advice about entries of the selector that name nothing.
void add_unmatched(const Report& report, std::vector<Advice>& out) {
    for (const Report& entry : items(report, "unmatched")) {
        const std::string selector = text(entry, "selector");
        const bool variable = is_from_variable(report);
        out.push_back(
            {"selector " + selector,
             variable ? "variable `WYE_DEVICE`" : fmt::format("selector `{}`", selector),
             fmt::format("{}{}",
                         variable ? fmt::format("it names `{}`: ", selector) : std::string(),
                         text(entry, "message")),
             without_fix(text(entry, "fix")), "wye info -l"});
    }
}

// Adds advice about plugins that the user disabled. Called if no device is left.
void add_disabled(const Report& report, std::vector<Advice>& out) {
    for (const Report& plugin : items(report, "plugins")) {
        if (text(plugin, "state") != "disabled") continue;
        const std::string id = text(plugin, "id");
        out.push_back({"disabled " + id, subject_of(id, text(plugin, "path")),
                       text(fields(plugin, "reason"), "message"),
                       "take it out of WYE_PLUGINS_DISABLE", info_of(id)});
    }
}

// Adds advice about paths that do not exist. A wrong path in a driver's variable hides the driver's
// devices, so such a path is the most likely cause of other faults.
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

// Whether add_variables names the path.
bool is_missing(const Report& report, const std::string& path) {
    return std::ranges::any_of(items(report, "environment"), [&](const Report& variable) {
        const std::vector<std::string> missing = texts(variable, "missing");
        return !missing.empty() && flag(variable, "in_effect") && missing.front() == path;
    });
}

void add_plugins(const Report& report, std::vector<Advice>& out) {
    for (const Report& plugin : items(report, "plugins")) {
        if (!failed(plugin) || !absent_vendor(report, plugin).empty()) continue;
        const std::string id = text(plugin, "id");
        const std::string path = text(plugin, "path");
        if (id.empty() && is_missing(report, path)) continue;
        const Report& reason = fields(plugin, "reason");
        const bool opened = text(plugin, "state") == "failed";
        out.push_back({"plugin " + (id.empty() ? path : id), subject_of(id, path),
                       cause_text(reason), without_fix(remedy(report, reason)),
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

// Adds warnings about plugins that are used nevertheless.
void add_warnings(const Report& report, std::vector<Advice>& out) {
    for (const Report& record : items(report, "records")) {
        if (text(record, "severity") != "warning" ||
            !is_up_to_the_user(without_fix(text(record, "fix"))))
            continue;
        const std::string id = text(record, "plugin");
        const std::string path = text(record, "path");
        const std::string message = text(record, "message");
        out.push_back({"warning " + (id.empty() ? path : id) + " " + message, subject_of(id, path),
                       message, without_fix(text(record, "fix")), "wye info doctor"});
    }
}

// Adds advice about pairs of devices with contradictory identities, which may be one device.
void add_doubts(const Report& report, std::vector<Advice>& out) {
    for (const Report& doubt : items(report, "doubts")) {
        const std::vector<std::string> devices = texts(doubt, "devices");
        if (devices.size() != 2) continue;
        out.push_back({fmt::format("doubt {} {}", devices[0], devices[1]),
                       fmt::format("devices `{}` and `{}`", devices[0], devices[1]),
                       fmt::format("they may be the same device: {}", text(doubt, "reason")),
                       "update the drivers of both", "wye info -v"});
    }
}

// Adds advice about plugins that are opened without a probe: their faults end the application.
void add_unprobed(const Report& report, std::vector<Advice>& out) {
    for (const Report& plugin : items(report, "plugins")) {
        if (text(plugin, "state") != "ready" || text(plugin, "probe_state") != "off") continue;
        const std::string id = text(plugin, "id");
        out.push_back({"unprobed " + id, fmt::format("plugin `{}`", id),
                       "it is opened without a probe, so that a fault in it ends the application",
                       "unset WYE_PROBE and install wye-probe beside libwye", "wye info doctor"});
    }
}

void add_misspelt(const Report& report, std::vector<Advice>& out) {
    for (const Report& variable : items(report, "environment")) {
        // Skips variables that are known, which have a text `about` their meaning: raised
        // privileges may be why they have no effect.
        if (flag(variable, "in_effect") || !text(variable, "about").empty()) continue;
        const std::string name = text(variable, "name");
        out.push_back({"name " + name, fmt::format("variable `{}`", name), text(variable, "note"),
                       fmt::format("unset {}, or correct its name", name), "wye info env"});
    }
}

}  // namespace

std::vector<Advice> advice(const Report& report) {
    std::vector<Advice> out;
    const Report& devices = items(report, "devices");
    add_variables(report, out);
    add_unmatched(report, out);
    // If a device works, advice about the other devices comes before advice about plugins. If none
    // works, advice about plugins comes first.
    const bool works = std::ranges::any_of(devices, usable);
    if (works) add_devices(report, out);
    add_plugins(report, out);
    if (!works) add_devices(report, out);
    if (devices.empty() && items(report, "unmatched").empty()) add_disabled(report, out);
    add_warnings(report, out);
    add_unprobed(report, out);
    add_doubts(report, out);
    add_misspelt(report, out);
    const std::string selector = selector_text(report);
    if (const auto none = devices.empty() && out.empty() ? no_device(report) : std::nullopt)
        out.push_back({"no device", "this machine", none->message,
                       selector.empty() || selector == "auto"
                           ? "install a plugin and the driver that it uses"
                           : "name another device; `wye info -l -d auto` lists all",
                       "wye info -l"});
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
    return out.empty() ? "nothing to change, in either report\n" : out;
}

}  // namespace wye::tool
