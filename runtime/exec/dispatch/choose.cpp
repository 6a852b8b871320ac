// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/choose.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace wye::exec {
namespace {

using registry::DeviceInfo;
using registry::HandleKind;
using Reasons = std::vector<std::string>;

plan::Launch without_sizes(const plan::Count3& workgroup) {
    plan::Launch out;
    out.buffer_count = 0;
    out.groups = {1, 1, 1};
    out.workgroup = workgroup;
    return out;
}

// Finds the reasons against running one launch on a device.
class Fitting {
  public:
    Fitting(const Context& context, const LoadedProgram& program, const plan::Launch& launch,
            const route::Demands& demands)
        : context_(context), program_(program), launch_(launch), demands_(demands) {}

    [[nodiscard]] Reasons against(const DeviceInfo& device) {
        route::Route route;
        Reasons out = of_launch(device, launch_, route);
        if (!out.empty()) {
            if (!sized_) {
                route::Route unused;
                sized_ = out != of_launch(device, without_sizes(launch_.workgroup), unused);
            }
            return out;
        }
        if (route.variant != ir::kNone) return out;
        return context_.reasons_against(device, program_);
    }
    // Whether the sizes of the launch were a reason against any device so far.
    [[nodiscard]] bool sized() const { return sized_; }

    [[nodiscard]] Reasons of_launch(const DeviceInfo& device, const plan::Launch& launch,
                                    route::Route& route) const {
        const plan::ProgramPlan& plan = program_.plan();
        const route::Demands demands =
            route::demands_on(route::limits(device), plan, launch, demands_);
        auto reasons =
            route::reasons_against_launch(device, plan, launch, demands, lower::formats(), route);
        return reasons.ok() ? std::move(reasons).value() : Reasons{reasons.error().message};
    }

  private:
    const Context& context_;
    const LoadedProgram& program_;
    const plan::Launch& launch_;
    const route::Demands& demands_;
    bool sized_ = false;
};

void log_choice(const Context& context, const LoadedProgram& program, const Choice& choice) {
    if (!context.logs()) return;
    std::string text =
        fmt::format("`{}` runs on {}: {}", program.name(), choice.selector, choice.reason);
    for (const registry::PassedOver& one : choice.passed_over)
        text += fmt::format("; not on {}: {}", one.subject, one.reason);
    context.log(WYE_LOG_DEBUG, "route", text);
}

}  // namespace

Result<Chosen> choose(Context& context, registry::Handle handle, const LoadedProgram& program,
                      const plan::Launch& launch, const route::Demands& demands) {
    const registry::HandleTable& handles = context.handles();
    Choices& choices = context.choices();
    Choices::Known known;
    known.key = {handle, launch.workgroup, demands.cooperative, demands.variants};
    known.sizes = {route::bytes_of(launch), launch.groups};
    Fitting fitting(context, program, launch, demands);
    const std::uint64_t changes = context.device_changes();
    if (auto found = choices.find(known.key, known.sizes); found && found->changes == changes) {
        registry::Pin device = handles.try_find(found->device, HandleKind::device);
        if (device && !device.as<DeviceSession>().lost()) {
            const Routed routed{found->device, WYE_ROUTED_CHOSEN, found->number};
            if (found->sizes == known.sizes) return Chosen{routed, std::move(device)};
            route::Route route;
            if (fitting.of_launch(device.as<DeviceSession>().info(), launch, route).empty()) {
                found->sizes = known.sizes;
                choices.remember(*found);
                return Chosen{routed, std::move(device)};
            }
        }
    }
    const auto fit = [&](const DeviceInfo& device) { return fitting.against(device); };
    auto found_device = context.open_device(fit);
    if (!found_device.ok()) {
        Error error = std::move(found_device).error();
        if (error.code != Code::NO_DEVICE) return error;
        error.message = fmt::format("no device can run `{}`{}: {}", program.name(),
                                    fitting.sized() ? " at these sizes" : "", error.message);
        if (fitting.sized()) error.fix = "Fix: lower the sizes, or change what a cause names";
        return error;
    }
    Context::Opened opened = std::move(found_device).value();
    WYE_ASSIGN(registry::Pin device, handles.find(opened.handle, HandleKind::device));
    Choice choice;
    choice.selector = opened.selection.device->selector;
    choice.reason = std::move(opened.selection.reason);
    choice.passed_over = std::move(opened.selection.passed_over);
    log_choice(context, program, choice);
    known.number = choices.keep(std::move(choice));
    known.sized = fitting.sized();
    known.device = opened.handle;
    // If another thread opened or closed a device meanwhile, the next request chooses again.
    const std::uint64_t now = context.device_changes();
    known.changes = now == changes + (opened.fresh ? 1 : 0) ? now : changes;
    choices.remember(known);
    return Chosen{{known.device, WYE_ROUTED_CHOSEN, known.number}, std::move(device)};
}

Result<Chosen> choose(Context& context, registry::Handle handle, const LoadedProgram& program,
                      const plan::Count3& workgroup, const route::Demands& demands) {
    const bool own = workgroup == plan::Count3{0, 0, 0};
    return choose(context, handle, program, without_sizes(own ? program.ir().workgroup : workgroup),
                  demands);
}

}  // namespace wye::exec
