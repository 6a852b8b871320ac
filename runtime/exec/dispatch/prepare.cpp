// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/prepare.hpp"

#include <fmt/format.h>

#include "exec/dispatch/choose.hpp"
#include "exec/dispatch/lower.hpp"
#include "exec/dispatch/route.hpp"
#include "lower/passes/native_functions.hpp"
#include "plan/admit.hpp"

namespace wye::exec {

using registry::HandleKind;
using registry::Pin;

namespace {

// Returns the route of a dispatch with these options, and sets all members of `launch` except the
// sizes.
Result<route::Route> route_ahead(const Context& context, LoadedProgram& program,
                                 const DeviceSession& session, const CompileOptions& options,
                                 plan::Launch& launch) {
    WYE_TRY(session.alive());
    plan::Request request;
    request.workgroup = options.workgroup;
    request.ulp_budget = options.ulp_budget;
    launch.buffer_count = 0;
    launch.groups = {1, 1, 1};
    WYE_TRY(plan::admit_options(program.plan(), request, launch));
    return route(context, program, session, launch, options.demands);
}

}  // namespace

Result<void> check_ahead(const Context& context, LoadedProgram& program,
                         const DeviceSession& session, const CompileOptions& options) {
    plan::Launch launch;
    auto found = route_ahead(context, program, session, options, launch);
    if (!found.ok()) return std::move(found).error();
    return {};
}

Result<std::vector<CompiledRef>> compile_ahead(const Context& context, LoadedProgram& program,
                                               DeviceSession& session,
                                               const CompileOptions& options, CompileStats& stats,
                                               std::optional<Clock::time_point> deadline) {
    std::vector<CompiledRef> out;
    plan::Launch launch;
    WYE_ASSIGN(const route::Route route, route_ahead(context, program, session, options, launch));
    const bool barriers = program.plan().analysis.uses_grid_barrier;
    const bool one =
        options.demands.cooperative &&
        cooperative_use(launch.groups, session.limits(), route.format) == WYE_COOPERATIVE_NATIVE;
    if (barriers && route.variant == ir::kNone && !one) return out;
    Form form;
    const auto compile = [&]() -> Result<void> {
        WYE_ASSIGN(CompiledRef made,
                   session.compiled(program, form, route.format, stats, deadline, true));
        session.save(stats);
        out.push_back(std::move(made));
        return {};
    };
    form.workgroup = launch.workgroup;
    form.variant = route.variant;
    form.profile = options.profile;
    const bool forms = has_forms(route);
    if (forms) form.natives = lower::choose_natives(program.ir(), route.format, options.ulp_budget);
    WYE_TRY(compile());
    if (!forms || barriers || launch.has_override) return out;
    // A dispatch chooses the form by the sizes and parameters of its launch, so all forms are
    // compiled.
    WYE_ASSIGN(const lower::Preconditions* preconditions, program.preconditions(form.natives));
    if (preconditions->empty()) return out;
    form.check_free = true;
    WYE_TRY(compile());
    return out;
}

Result<Prepared> find_prepared(Context& context, wye_program program_handle,
                               wye_device device_handle) {
    Prepared out;
    WYE_ASSIGN(out.program, context.handles().find(program_handle, HandleKind::program));
    const LoadedProgram& program = out.program.as<LoadedProgram>();
    const auto whole = [&]() -> Result<void> {
        if (!program.plan().analysis.uses_grid_barrier) return {};
        return Error(Code::UNSUPPORTED,
                     fmt::format("program `{}` has grid barriers, so its kernels depend on the "
                                 "launch",
                                 program.name()),
                     "Fix: dispatch it", program.name());
    };
    if (device_handle == 0) {
        WYE_TRY(whole());
        WYE_ASSIGN(Chosen chosen, choose(context, program_handle, program, plan::Count3{0, 0, 0},
                                         route::Demands{}));
        out.device = std::move(chosen.device);
        out.routed = chosen.routed;
        return out;
    }
    WYE_ASSIGN(out.device, context.handles().find(device_handle, HandleKind::device));
    out.routed = {device_handle, WYE_ROUTED_NAMED, 0};
    WYE_TRY(out.session().alive());
    WYE_TRY(whole());
    return out;
}

Result<void> prepare(Context& context, wye_program program_handle, wye_device device_handle,
                     wye_prepare_report& report) {
    const Clock::time_point start = now();
    WYE_ASSIGN(const Prepared found, find_prepared(context, program_handle, device_handle));
    LoadedProgram& program = found.program.as<LoadedProgram>();
    DeviceSession& session = found.session();
    CompileStats stats;
    WYE_TRY(compile_ahead(context, program, session, {}, stats));
    report.compiled = stats.compiled == 0 ? 0 : 1;
    report.disk_cache = disk_use(stats);
    report.lower_ns = stats.lower_ns;
    report.driver_ns = stats.driver_ns;
    report.kept_bytes = stats.saved_bytes;
    report.total_ns = nanoseconds(now() - start);
    return {};
}

}  // namespace wye::exec
