// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../suggest.hpp"
#include "views.hpp"

namespace wye::tool {
namespace {

// A variable that affects the plugins and devices that are found. A name that ends with `*` stands
// for all names with this prefix.
struct Known {
    std::string_view name, owner, about;
    bool paths = false;  // the value is a list of paths, separated by colons
};
constexpr Known kKnown[] = {
    {"WYE_DEVICE", "wye", "the selector to use if none is given"},
    {"WYE_PLUGIN_PATH", "wye", "plugins to search instead of the standard folders", true},
    {"WYE_PLUGIN_PATH_ADD", "wye", "plugins to search before the standard folders", true},
    {"WYE_PLUGINS_DISABLE", "wye", "plugins that are not opened"},
    {"WYE_CACHE_DIR", "wye", "the folder of compiled programs and verdicts"},
    {"WYE_CACHE_SIZE", "wye", "the size limit of compiled programs"},
    {"WYE_LOG", "wye", "messages for standard error"},
    {"WYE_TRACE", "wye", "a file for a trace"},
    {"WYE_LAYERS", "wye", "layers over every plugin"},
    {"WYE_LAYER_TRACE", "wye", "a file for the calls that the layer `trace` sees"},
    {"WYE_LAYER_FAULTS", "wye", "calls that the layer `faults` makes fail"},
    {"WYE_MOCK_SCRIPT", "wye", "what the devices of the plugin `mock` are"},
    {"WYE_LIBEXEC", "wye", "the folder of helper programs", true},
    {"WYE_PROBE", "wye", "how plugins are tried before they are opened"},
    {"WYE_PROBE_TIMEOUT_MS", "wye", "how long the probe of a plugin may take"},
    {"WYE_PROBE_MEMORY", "wye", "how much memory the probe of a plugin may take"},
    {"VK_ICD_FILENAMES", "vulkan", "replaces the list of Vulkan drivers", true},
    {"VK_DRIVER_FILES", "vulkan", "replaces the list of Vulkan drivers", true},
    {"VK_ADD_DRIVER_FILES", "vulkan", "adds Vulkan drivers", true},
    {"VK_LOADER_*", "vulkan", "an option of the Vulkan loader"},
    {"VK_INSTANCE_LAYERS", "vulkan", "adds Vulkan layers"},
    {"MESA_VK_DEVICE_SELECT", "vulkan", "chooses a device of Mesa"},
    {"OCL_ICD_VENDORS", "opencl", "replaces the folder of OpenCL drivers", true},
    {"OCL_ICD_FILENAMES", "opencl", "adds OpenCL drivers"},
    {"OPENCL_VENDOR_PATH", "opencl", "replaces the folder of OpenCL drivers", true},
    {"POCL_*", "opencl", "an option of PoCL"},
    {"CUDA_VISIBLE_DEVICES", "cuda", "hides GPUs from CUDA, and from CUDA only"},
    {"CUDA_DEVICE_ORDER", "cuda", "the order of GPUs in CUDA"},
    {"NVIDIA_VISIBLE_DEVICES", "cuda", "the GPUs that a container gets"},
    {"LD_LIBRARY_PATH", "system", "folders where drivers' libraries are looked for first"},
    {"LD_PRELOAD", "system", "libraries loaded into every program"},
};

bool matches(const Known& known, std::string_view name) {
    if (!known.name.ends_with('*')) return known.name == name;
    return name.starts_with(known.name.substr(0, known.name.size() - 1));
}

Report missing_paths(const Known& known, const std::string& value,
                     bool (*exists)(const std::string& path)) {
    Report out = Report::array();
    if (!known.paths) return out;
    for (std::size_t from = 0; from < value.size();) {
        const std::size_t end = std::min(value.find(':', from), value.size());
        const std::string path = value.substr(from, end - from);
        if (!path.empty() && !exists(path)) out.push_back(path);
        from = end + 1;
    }
    return out;
}

// The owner of variables with the prefix of `name`: a driver, or Wye; else empty.
std::string_view owner_of(std::string_view name) {
    constexpr std::pair<std::string_view, std::string_view> kOwners[] = {
        {"WYE_", "wye"},       {"VK_", "vulkan"}, {"MESA_VK_", "vulkan"}, {"OCL_", "opencl"},
        {"OPENCL_", "opencl"}, {"CUDA_", "cuda"}, {"NVIDIA_", "cuda"}};
    for (const auto& [start, owner] : kOwners)
        if (name.starts_with(start)) return owner;
    return {};
}

// The note on a variable that kKnown does not list. Drivers have more variables than kKnown lists,
// so a driver's variable gets a note only if its name resembles a listed name; else the note is
// empty.
std::string unknown_note(const std::string& name, std::string_view owner) {
    std::vector<std::string> names;
    for (const Known& known : kKnown)
        if (known.owner == owner && !known.name.ends_with('*')) names.emplace_back(known.name);
    const std::vector<std::string> near = nearest(name, names);
    if (!near.empty())
        return fmt::format("there is no such variable; did you mean {}?", near.front());
    return owner == "wye" ? "this version has no such variable" : "";
}

}  // namespace

Report environment_of(const Variables& variables, bool elevated,
                      bool (*exists)(const std::string& path)) {
    Report out = Report::array();
    const auto add = [&](const std::string& name, const std::string& value,
                         std::string_view owner) -> Report& {
        out.push_back({{"name", name},
                       {"value", value},
                       {"owner", owner},
                       {"in_effect", true},
                       {"about", nullptr},
                       {"note", nullptr},
                       {"missing", Report::array()}});
        return out.back();
    };
    for (const auto& [name, value] : variables) {
        const auto* known = std::ranges::find_if(
            kKnown, [&, &n = name](const Known& one) { return matches(one, n); });
        if (known != std::end(kKnown)) {
            Report& entry = add(name, value, known->owner);
            entry["about"] = known->about;
            entry["missing"] = missing_paths(*known, value, exists);
            if (elevated && known->owner == "wye") {
                entry["in_effect"] = false;
                entry["note"] = "ignored: the process runs with raised privileges";
            } else if (!entry["missing"].empty()) {
                entry["note"] = fmt::format("{} not exist: {}",
                                            entry["missing"].size() == 1 ? "this does" : "these do",
                                            value_text(entry["missing"]));
            }
        } else if (const std::string_view owner = owner_of(name); !owner.empty()) {
            const std::string note = unknown_note(name, owner);
            if (note.empty()) continue;
            Report& entry = add(name, value, owner);
            entry["in_effect"] = false;
            entry["note"] = note;
        }
    }
    return out;
}

std::string environment_view(const Report& report, bool all, const Style& style) {
    std::string out;
    for (const Report& variable : items(report, "environment")) {
        const std::string name = clean(text(variable, "name"));
        const bool effect = flag(variable, "in_effect");
        out += wrapped(style, ink(style, effect ? Ink::name : Ink::faint, name) + "=",
                       text(variable, "value"));
        if (const std::string about = text(variable, "about"); !about.empty())
            out += wrapped(style, "    ", about);
        if (const std::string note = text(variable, "note"); !note.empty())
            out += wrapped(style, "    " + ink(style, Ink::bad, effect ? "note: " : "no effect: "),
                           note);
    }
    if (!all) return out;
    for (const Known& known : kKnown) {
        const auto is_set = [&](const Report& one) { return matches(known, text(one, "name")); };
        if (std::ranges::any_of(items(report, "environment"), is_set)) continue;
        out += wrapped(style, ink(style, Ink::faint, known.name) + "  ",
                       fmt::format("not set; {}", known.about));
    }
    return out;
}

}  // namespace wye::tool
