// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/traps.hpp"

#include <fmt/format.h>

#include "lower/lower.hpp"

namespace wye::exec {
namespace {

Error trapped(const std::string& program, const std::string& device, const Trap& trap) {
    return {Code::TRAPPED,
            fmt::format("program `{}` trapped with code {} on {} ({} trap{})", program, trap.code,
                        device, trap.count, trap.count == 1 ? "" : "s"),
            "Fix: look up the code in the program; no output was delivered", program};
}

// The error for a launch in which the driver ended a loop, which makes the results invalid.
Error loops_ended(const std::string& program, const registry::DeviceInfo& device) {
    return {Code::LIMIT_EXCEEDED,
            fmt::format("the driver of {} ended a loop of program `{}`: it allows an invocation {} "
                        "rounds, all loops together",
                        device.selector, program,
                        device.facts.number(WYE_FACT_KEY_LOOP_ROUNDS).value_or(0)),
            "Fix: run it on another device, such as `cpu`, or do fewer rounds in one dispatch; no "
            "output was delivered",
            program};
}

}  // namespace

Result<void> check_trap(const std::string& program, const registry::DeviceInfo& device,
                        const std::uint32_t* words, Trap& out) {
    if (words[1] == 0) return {};
    if (words[0] == lower::kLoopsEnded) return loops_ended(program, device);
    out = {words[0], words[1]};
    return trapped(program, device.selector, out);
}

}  // namespace wye::exec
