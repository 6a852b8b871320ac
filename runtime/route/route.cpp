// SPDX-License-Identifier: Apache-2.0
#include "route/route.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "route/choose_variant.hpp"

namespace wye::route {
namespace {

std::string why(const ir::Need& need) {
    if (need.because.empty()) return {};
    if (need.place.line == 0 || need.because.find(" at ") != std::string::npos)
        return fmt::format(" ({})", need.because);
    return fmt::format(" ({} at {}:{})", need.because, need.place.line, need.place.column);
}

std::string taken(const registry::DeviceInfo& device) {
    return device.formats.empty() ? "none" : fmt::format("{}", fmt::join(device.formats, ", "));
}

bool runs_variants_only(const registry::DeviceInfo& device,
                        std::span<const std::string_view> formats) {
    return choose_format(device, formats).empty();
}

bool has_variant(const registry::DeviceInfo& device, const plan::ProgramPlan& plan) {
    const auto variant = choose_variant(device, *plan.program);
    return variant.ok() && *variant != ir::kNone;
}

}  // namespace

registry::Requirements requirements(const plan::ProgramPlan& plan) {
    registry::Requirements needs;
    for (const ir::Need& need : plan.analysis.needs) needs.capabilities.push_back(need.capability);
    needs.workgroup = plan.program->workgroup;
    needs.shared_bytes = plan.analysis.shared_bytes;
    needs.private_bytes = plan.analysis.local_array_bytes;
    needs.param_bytes = plan.params_bytes;
    needs.buffers = plan.bindings.arguments.size();
    for (const plan::Binding& binding : plan.bindings.bindings)
        if (binding.static_bytes && binding.role != ir::Role::SHARED)
            needs.largest_buffer_bytes =
                std::max(needs.largest_buffer_bytes, *binding.static_bytes);
    needs.subgroups = plan.analysis.uses_subgroup;
    needs.subgroup = plan.program->subgroup;
    return needs;
}

std::string_view choose_format(const registry::DeviceInfo& device,
                               std::span<const std::string_view> formats) {
    for (const std::string& wanted : device.formats)
        for (const std::string_view format : formats)
            if (wanted == format) return format;
    return {};
}

std::vector<std::string> reasons_against(const registry::DeviceInfo& device,
                                         const plan::ProgramPlan& plan,
                                         const registry::Requirements& needs,
                                         std::span<const std::string_view> formats) {
    std::vector<std::string> reasons;
    if (!device.usable) reasons.push_back(device.reason);
    if (runs_variants_only(device, formats) && !has_variant(device, plan))
        reasons.push_back(
            fmt::format("takes no artifact format that this version lowers to (it takes {}), and "
                        "the program has no variant for it",
                        taken(device)));
    for (const registry::Unmet& unmet : registry::check(needs, device.facts).unmet) {
        std::string text = registry::to_text(unmet);
        for (const ir::Need& need : plan.analysis.needs)
            if (need.capability == unmet.name) text += why(need);
        reasons.push_back(std::move(text));
    }
    return reasons;
}

Limits limits(const registry::DeviceInfo& device) {
    Limits out;
    // An unreported workgroup limit counts as 1.
    out.max_groups = device.facts.triple(WYE_FACT_KEY_MAX_WORKGROUPS).value_or(out.max_groups);
    for (std::uint32_t& axis : out.max_groups) axis = std::max(axis, 1U);
    out.max_buffer_bytes =
        device.facts.number(WYE_FACT_KEY_MAX_BUFFER_BYTES).value_or(out.max_buffer_bytes);
    out.memory_bytes = device.facts.number(WYE_FACT_KEY_MEMORY_BYTES).value_or(out.memory_bytes);
    out.grid_sync = device.facts.has(WYE_FACT_KEY_GRID_SYNC);
    out.buffer_alignment =
        std::max(device.facts.number(WYE_FACT_KEY_BUFFER_ALIGNMENT).value_or(1), std::uint64_t{1});
    return out;
}

bool lacks_only_variants(const registry::DeviceInfo& device, const plan::ProgramPlan& plan,
                         const Demands& demands, std::span<const std::string_view> formats) {
    return !demands.variants && runs_variants_only(device, formats) && has_variant(device, plan) &&
           reasons_against(device, plan, requirements(plan), formats).empty();
}

Demands demands_on(const Limits& limits, const plan::ProgramPlan& plan, const plan::Launch& launch,
                   Demands demands) {
    demands.variants = demands.variants && !limits.folds(launch.groups);
    if (plan.analysis.uses_grid_barrier && !demands.variants) demands.cooperative = false;
    return demands;
}

LaunchBytes bytes_of(const plan::Launch& launch) {
    LaunchBytes out;
    for (const plan::BoundBuffer& bound : launch.bound()) {
        out.largest = std::max(out.largest, bound.bytes);
        if (bound.kind == plan::ArgumentKind::Resident) continue;
        if (__builtin_add_overflow(out.total, bound.bytes, &out.total)) out.total = UINT64_MAX;
    }
    return out;
}

Result<std::vector<std::string>> reasons_against_launch(
    const registry::DeviceInfo& device, const plan::ProgramPlan& plan, const plan::Launch& launch,
    const Demands& demands, std::span<const std::string_view> formats, Route& out) {
    out = {};
    if (demands.variants) {
        WYE_ASSIGN(out.variant, choose_variant(device, *plan.program));
    }
    registry::Requirements needs = requirements(plan);
    needs.workgroup = launch.workgroup;
    const LaunchBytes bytes = bytes_of(launch);
    needs.largest_buffer_bytes = std::max(needs.largest_buffer_bytes, bytes.largest);
    needs.total_bytes = bytes.total;
    const bool splits = plan.analysis.uses_grid_barrier && out.variant == ir::kNone;
    if (demands.cooperative && !splits) needs.capabilities.emplace_back("grid_sync");
    if (launch.indirect) needs.capabilities.emplace_back("indirect_dispatch");
    std::vector<std::string> reasons = reasons_against(device, plan, needs, formats);
    if (launch.indirect && runs_variants_only(device, formats))
        reasons.push_back(
            fmt::format("takes no artifact format that this version lowers to (it takes {}), so "
                        "the library cannot check a grid that is in a buffer",
                        taken(device)));
    const bool variants_only = runs_variants_only(device, formats) && has_variant(device, plan);
    if (variants_only && !demands.variants)
        reasons.push_back(
            limits(device).folds(launch.groups)
                ? fmt::format("runs this program's native variants only (it takes {}); variants "
                              "cannot run a launch of more workgroups than max_workgroups",
                              taken(device))
                : fmt::format("runs this program's native variants only (it takes {}), and the "
                              "request allows none",
                              taken(device)));
    if (reasons.empty())
        out.format = out.variant != ir::kNone ? plan.program->variants[out.variant].format
                                              : choose_format(device, formats);
    return reasons;
}

Result<Route> route(const registry::DeviceInfo& device, const plan::ProgramPlan& plan,
                    const plan::Launch& launch, const Demands& demands,
                    std::span<const std::string_view> formats) {
    Route out;
    WYE_ASSIGN(const std::vector<std::string> reasons,
               reasons_against_launch(device, plan, launch, demands, formats, out));
    if (reasons.empty()) return out;
    return Error(
        Code::UNSUPPORTED,
        fmt::format("{} cannot run program `{}`: {}", device.selector, plan.program->name,
                    fmt::join(reasons, "; ")),
        lacks_only_variants(device, plan, demands, formats) && !limits(device).folds(launch.groups)
            ? "Fix: allow native variants (WYE_DISPATCH_VARIANTS, `wye run --variants`)"
            : "Fix: use a device that offers this (no open device does; `wye info --json` "
              "lists the facts of all), or change the program",
        device.selector);
}

}  // namespace wye::route
