// SPDX-License-Identifier: Apache-2.0
//
// The groups of cases, and how each is run: by a kit in a process of its own, and after a plugin
// ended that process, by another one for the cases that are left. One thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verdict.hpp"
#include "wye/sdk/result.hpp"

namespace wye::tool::conform {

// What the cases of a group need. `file`: only the plugin's file; `plugin`: a plugin that loads;
// `device`: a usable device; `language`: a device that takes a format that the host lowers to.
enum class Needs : std::uint8_t { file, plugin, device, language };

struct GroupPlan {
    const char* name;
    const char* about;
    Needs needs;
    bool full = false;  // it runs with --full, and where --only names it
};
// The groups, in the order in which they run.
[[nodiscard]] const std::vector<GroupPlan>& group_plans();

// The paths of the kits, and the settings that are passed to them.
struct Setup {
    std::string abi_kit, language_kit;
    std::string plugin;  // the file, as given
    std::string link;    // the file under a name that the host takes for its id; empty: not yet
    std::vector<std::string> config;  // "KEY=VALUE"
    std::vector<std::string> layers;  // files
    Depth depth = Depth::usual;
    std::chrono::milliseconds limit{};  // of one case
    // The time limit of each group of random programs, and of `functions`, after which it begins no
    // more cases; none: all run.
    std::optional<std::chrono::seconds> random_time;
};

// Runs a group. What the plugin and its devices say is added to `verdict`.
[[nodiscard]] Result<Group> run_group(const GroupPlan& plan, const Setup& setup, Verdict& verdict);

// The index of the device that a selector names, among those of the plugin.
[[nodiscard]] Result<std::uint32_t> find_device(const std::string& selector, const Setup& setup,
                                                const Verdict& verdict);

// Compares the plugin's own id, version and ABI with a manifest beside its file, or, without one,
// its id with the file's name.
[[nodiscard]] Case check_manifest(const Verdict& verdict);

// Whether a manifest beside the file says that it is a layer.
[[nodiscard]] bool is_layer(const std::string& path);

}  // namespace wye::tool::conform
