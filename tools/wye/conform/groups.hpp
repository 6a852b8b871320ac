// SPDX-License-Identifier: Apache-2.0
//
// The groups of cases, and how a group is run: by a kit in a process of its own. If the plugin ends
// that process, another process runs the cases that are left. Used by one thread.
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
    bool full = false;  // runs only with --full, or if --only names the group
};
// The groups, in the order in which they run.
[[nodiscard]] const std::vector<GroupPlan>& group_plans();

// The paths of the kits, and the settings that are passed to them.
struct Setup {
    std::string abi_kit, language_kit;
    std::string plugin;  // the plugin's file, as given
    std::string link;    // a link to the file, named as the host expects; empty: not made yet
    std::vector<std::string> config;  // "KEY=VALUE"
    std::vector<std::string> layers;  // files
    Depth depth = Depth::usual;
    std::chrono::milliseconds limit{};  // of one case
    // A time limit for each group of random programs, and for the group `functions`: after this
    // time the group begins no more cases. nullopt: all cases run.
    std::optional<std::chrono::seconds> random_time;
};

// Runs a group. Adds the plugin's and the devices' descriptions of themselves to `verdict`.
[[nodiscard]] Result<Group> run_group(const GroupPlan& plan, const Setup& setup, Verdict& verdict);

// The index of the device that a selector names, among those of the plugin.
[[nodiscard]] Result<std::uint32_t> find_device(const std::string& selector, const Setup& setup,
                                                const Verdict& verdict);

// Compares the plugin's own id, version and ABI with a manifest beside the plugin's file. Without a
// manifest, compares the id with the file's name.
[[nodiscard]] Case check_manifest(const Verdict& verdict);

// Whether a manifest beside the file says that the file is a layer.
[[nodiscard]] bool is_layer(const std::string& path);

}  // namespace wye::tool::conform
