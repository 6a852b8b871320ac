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

// What cases need: the groups before `load` judge the file; those of `plugin` need a plugin that
// loads; of `device`, a usable device; of `language`, one that takes what the host lowers to.
enum class Needs : std::uint8_t { file, plugin, device, language };

struct GroupPlan {
    const char* name;
    const char* about;
    Needs needs;
};
// In the order in which they run.
[[nodiscard]] const std::vector<GroupPlan>& group_plans();

// The paths of the kits and what they are told.
struct Setup {
    std::string abi_kit, language_kit;
    std::string plugin;  // the file, as given
    std::string link;    // the file under a name that the host takes for its id; empty: not yet
    std::vector<std::string> config;  // "KEY=VALUE"
    std::vector<std::string> layers;  // files
    Depth depth = Depth::usual;
    std::chrono::milliseconds limit{};  // of one case
    // After it each of the groups of random programs begins no more of them; none: all run.
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

}  // namespace wye::tool::conform
