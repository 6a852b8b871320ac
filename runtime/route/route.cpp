// SPDX-License-Identifier: Apache-2.0
#include "route/route.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace wye::route {
namespace {

// Each binding is a buffer of its own for the limit; `shared` takes no slot.
void add_launch(const plan::Launch& launch, registry::Requirements& needs) {
    needs.workgroup = launch.workgroup;
    for (const plan::BoundBuffer& bound : launch.bound()) {
        needs.largest_buffer_bytes = std::max(needs.largest_buffer_bytes, bound.bytes);
        if (bound.kind == plan::ArgumentKind::Resident) continue;
        if (__builtin_add_overflow(needs.total_bytes, bound.bytes, &needs.total_bytes))
            needs.total_bytes = UINT64_MAX;
    }
}

std::string why(const ir::Need& need) {
    if (need.because.empty()) return {};
    if (need.place.line == 0 || need.because.find(" at ") != std::string::npos)
        return fmt::format(" ({})", need.because);
    return fmt::format(" ({} at {}:{})", need.because, need.place.line, need.place.column);
}

}  // namespace

registry::Requirements requirements(const plan::ProgramPlan& plan) {
    registry::Requirements needs;
    for (const ir::Need& need : plan.analysis.needs) needs.capabilities.push_back(need.capability);
    needs.workgroup = plan.program->workgroup;
    needs.shared_bytes = plan.analysis.shared_bytes;
    needs.private_bytes = plan.analysis.local_array_bytes;
    needs.param_bytes = plan.params.size;
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
    if (choose_format(device, formats).empty()) {
        std::string list;
        for (const std::string& format : device.formats)
            list += (list.empty() ? "" : ", ") + format;
        reasons.push_back("takes no artifact format that this version lowers to (it takes " +
                          (list.empty() ? "none" : list) + ")");
    }
    for (const registry::Unmet& unmet : registry::check(needs, device.facts).unmet) {
        std::string text = registry::to_text(unmet);
        for (const ir::Need& need : plan.analysis.needs)
            if (need.capability == unmet.name) text += why(need);
        reasons.push_back(std::move(text));
    }
    return reasons;
}

Result<void> check_launch(const registry::DeviceInfo& device, const plan::ProgramPlan& plan,
                          const plan::Launch& launch, bool cooperative,
                          std::span<const std::string_view> formats) {
    registry::Requirements needs = requirements(plan);
    add_launch(launch, needs);
    if (cooperative) needs.capabilities.emplace_back("grid_sync");
    const std::vector<std::string> reasons = reasons_against(device, plan, needs, formats);
    if (reasons.empty()) return {};
    std::string list;
    for (const std::string& reason : reasons) list += (list.empty() ? "" : "; ") + reason;
    return Error(
        Code::UNSUPPORTED,
        fmt::format("{} cannot run program `{}`: {}", device.selector, plan.program->name, list),
        "Fix: use a device that offers this (`wye info --json` lists the facts; none that is open "
        "does), or change the program",
        device.selector);
}

}  // namespace wye::route
