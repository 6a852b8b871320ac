// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/traps.hpp"

#include <fmt/format.h>

#include "exec/device/grid_check.hpp"
#include "lower/lower.hpp"
#include "route/route.hpp"

namespace wye::exec {
namespace {

// The program or the graph that ran, for messages.
std::string shown(const std::string& name, Ran what) {
    if (what == Ran::Program) return fmt::format("program `{}`", name);
    return name.empty() ? "a program of the graph" : fmt::format("a program of graph `{}`", name);
}

Error trapped(const std::string& name, Ran what, const std::string& device, const Trap& trap) {
    return {
        Code::TRAPPED,
        fmt::format("{} trapped with code {} on {} ({} trap{})", shown(name, what), trap.code,
                    device, trap.count, trap.count == 1 ? "" : "s"),
        what == Ran::Program
            ? "Fix: look up the code in the program; no output was delivered"
            : "Fix: look up the code in the program; the steps after it ran, and read-backs were "
              "delivered",
        name};
}

// The error for a launch in which the driver ended a loop, which makes the results invalid.
Error loops_ended(const std::string& name, Ran what, const registry::DeviceInfo& device) {
    return {Code::LIMIT_EXCEEDED,
            fmt::format("the driver of {} ended a loop of {}: it allows an invocation {} loop "
                        "iterations, counted over all loops",
                        device.selector, shown(name, what),
                        device.facts.number(WYE_FACT_KEY_LOOP_ROUNDS).value_or(0)),
            "Fix: run it on another device, such as `cpu`, or do fewer iterations in one dispatch; "
            "no output was delivered",
            name};
}

// The limit that a grid exceeds, as text: a limit of the device, or else a limit of the language.
std::string exceeded(const plan::Count3& grid, const registry::DeviceInfo& device) {
    const plan::Count3 most = route::limits(device).max_groups;
    for (std::size_t axis = 0; axis < 3; ++axis)
        if (grid[axis] > most[axis])
            return fmt::format("the {} that {} launches on axis {}", most[axis], device.selector,
                               "xyz"[axis]);
    const std::uint64_t plane = std::uint64_t{grid[0]} * grid[1];
    if (plane > plan::kMostInGrid || plane * grid[2] > plan::kMostInGrid)
        return fmt::format("{} in all", plan::kMostInGrid);
    return fmt::format("{} invocations on an axis", plan::kMostInGrid);
}

Error grid_refused(const std::string& name, Ran what, const registry::DeviceInfo& device,
                   const std::uint32_t* words) {
    const plan::Count3 grid = {words[2], words[3], words[4]};
    const std::string who = what == Ran::Program
                                ? fmt::format("the dispatch of `{}`", name)
                                : fmt::format("dispatch {} of graph `{}`", words[5], name);
    return {Code::LIMIT_EXCEEDED,
            fmt::format("{} on {} found {}x{}x{} workgroups in its grid buffer, more than {}", who,
                        device.selector, grid[0], grid[1], grid[2], exceeded(grid, device)),
            "Fix: write fewer workgroups, each doing more work; none of them ran, and no output "
            "was delivered",
            name};
}

}  // namespace

Result<void> check_trap(const std::string& name, const registry::DeviceInfo& device,
                        const std::uint32_t* words, Trap& out, Ran what) {
    if (words[1] == 0) return {};
    if (words[0] == kGridRefused) return grid_refused(name, what, device, words);
    if (words[0] == lower::kLoopsEnded) return loops_ended(name, what, device);
    out = {words[0], words[1]};
    return trapped(name, what, device.selector, out);
}

}  // namespace wye::exec
