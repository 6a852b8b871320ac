// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/traps.hpp"

#include <fmt/format.h>

#include "lower/lower.hpp"

namespace wye::exec {
namespace {

// For messages.
std::string shown(const std::string& name, Ran what) {
    if (what == Ran::Program) return fmt::format("program `{}`", name);
    return name.empty() ? "a program of the graph" : fmt::format("a program of graph `{}`", name);
}

Error trapped(const std::string& name, Ran what, const std::string& device, const Trap& trap) {
    return {Code::TRAPPED,
            fmt::format("{} trapped with code {} on {} ({} trap{})", shown(name, what), trap.code,
                        device, trap.count, trap.count == 1 ? "" : "s"),
            "Fix: look up the code in the program; no output was delivered", name};
}

// The error for a launch in which the driver ended a loop, which makes the results invalid.
Error loops_ended(const std::string& name, Ran what, const registry::DeviceInfo& device) {
    return {Code::LIMIT_EXCEEDED,
            fmt::format("the driver of {} ended a loop of {}: it allows an invocation {} rounds, "
                        "all loops together",
                        device.selector, shown(name, what),
                        device.facts.number(WYE_FACT_KEY_LOOP_ROUNDS).value_or(0)),
            "Fix: run it on another device, such as `cpu`, or do fewer rounds in one dispatch; no "
            "output was delivered",
            name};
}

}  // namespace

Result<void> check_trap(const std::string& name, const registry::DeviceInfo& device,
                        const std::uint32_t* words, Trap& out, Ran what) {
    if (words[1] == 0) return {};
    if (words[0] == lower::kLoopsEnded) return loops_ended(name, what, device);
    out = {words[0], words[1]};
    return trapped(name, what, device.selector, out);
}

}  // namespace wye::exec
