// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/route.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

namespace wye::exec {
namespace {

// The remedy for a device that takes no grid from a buffer. `other`: a device that can run the
// launch; may be empty.
std::string without_indirect(const std::optional<std::string>& other) {
    std::string out = "Fix: read the three words back, and give them as `grid` (WYE_DISPATCH_GRID)";
    if (other)
        out += fmt::format(
            "; or copy the buffers to `{}`, which can run it (wye_buffer_copy_across)", *other);
    return out;
}

Error with_alternative(Error error, const Context& context, const DeviceSession& session,
                       const plan::ProgramPlan& plan, const plan::Launch& launch,
                       const route::Demands& demands, std::uint32_t routed) {
    const auto other = context.alternative([&](const registry::DeviceInfo& device) {
        return route::route(device, plan, launch, demands, lower::formats()).ok()
                   ? std::vector<std::string>{}
                   : std::vector<std::string>{"it does not fit"};
    });
    if (launch.indirect && !session.info().facts.has(WYE_FACT_KEY_INDIRECT_DISPATCH))
        error.fix = without_indirect(other);
    else if (other)
        error.fix =
            routed == WYE_ROUTED_OWNER
                ? fmt::format(
                      "Fix: copy its buffers to `{}`, which can run it "
                      "(wye_buffer_copy_across), or change the program",
                      *other)
                : fmt::format("Fix: open `{}`, which can run it, or change the program", *other);
    return error;
}

}  // namespace

Result<route::Route> route(const Context& context, LoadedProgram& program,
                           const DeviceSession& session, const plan::Launch& launch,
                           route::Demands demands, std::uint32_t routed) {
    const route::Limits& limits = session.limits();
    demands = route::demands_on(limits, program.plan(), launch, demands);
    const RouteKey key{launch.workgroup, demands.variants, launch.indirect};
    // A known route may come from a launch of other sizes, so the sizes are checked first.
    const route::LaunchBytes bytes = route::bytes_of(launch);
    const bool small =
        bytes.largest <= limits.max_buffer_bytes && bytes.total <= limits.memory_bytes;
    if (small && !demands.cooperative)
        if (const auto known = program.find_route(session, key)) return *known;
    auto found = route::route(session.info(), program.plan(), launch, demands, lower::formats());
    if (!found.ok() && !limits.folds(launch.groups) &&
        route::lacks_only_variants(session.info(), program.plan(), demands, lower::formats()))
        return std::move(found).error();  // the request can allow variants instead
    if (!found.ok())
        return with_alternative(std::move(found).error(), context, session, program.plan(), launch,
                                demands, routed);
    if (!demands.cooperative) program.remember(session, key, *found);
    return found;
}

}  // namespace wye::exec
