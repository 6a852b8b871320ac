// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/dispatch.hpp"

#include <algorithm>

#include "exec/dispatch/flow.hpp"
#include "exec/dispatch/own.hpp"
#include "exec/dispatch/report.hpp"
#include "exec/dispatch/route.hpp"
#include "exec/dispatch/submit.hpp"
#include "plan/admit.hpp"

namespace wye::exec {
namespace {

using registry::HandleKind;
using registry::Pin;

// Runs the steps before submit, in order.
Result<void> decide(const Context& context, Flow& flow) {
    const registry::HandleTable& handles = context.handles();
    const plan::ProgramPlan& plan = flow.program.plan();
    WYE_TRY(read_request(flow.desc, flow.requested));
    const plan::Request& request = flow.requested.request;
    const bool cooperative = flow.has(WYE_DISPATCH_COOPERATIVE);
    const route::Limits& limits = flow.session.limits();

    WYE_TRY(flow.residents.resolve(handles, plan, flow.requested.arguments()));
    WYE_TRY(plan::admit(plan, request, flow.launch));
    WYE_TRY(own(handles, plan, flow.session, flow.residents, request.arguments));
    WYE_ASSIGN(flow.route, route(context, flow.program, flow.session, flow.launch,
                                 {cooperative, flow.has(WYE_DISPATCH_VARIANTS)}));
    WYE_TRY(lower(flow.program, flow.launch, limits, flow.route, {request.ulp_budget, cooperative},
                  flow.kernels));
    return bind(plan, flow.launch, limits, flow.kernels, flow.bound);
}

}  // namespace

Result<void> dispatch_in_full(Context& context, const wye_dispatch_desc& desc,
                              Clock::time_point start, wye_report* out) {
    const registry::HandleTable& handles = context.handles();
    WYE_ASSIGN(const Pin program, handles.find(desc.program, HandleKind::program));
    WYE_ASSIGN(const Pin device, handles.find(desc.device, HandleKind::device));
    Flow flow(desc, program.as<LoadedProgram>(), device.as<DeviceSession>());
    if (desc.timeout_ns != 0) flow.deadline = after(start, desc.timeout_ns);

    WYE_TRY(decide(context, flow));
    auto result = submit(handles, flow);
    wye_report report = make_report(flow, start);
    if (out != nullptr && (result.ok() || result.error().code == Code::TRAPPED)) {
        report.header = out->header;
        *out = report;
    }
    if (context.logs())
        log_dispatch(context, desc, flow.program.name(), flow.session.info().selector, result,
                     report);
    return result;
}

Result<void> dispatch_sizes(Context& context, const wye_dispatch_desc& desc, std::uint64_t* sizes,
                            std::uint32_t* groups) {
    const registry::HandleTable& handles = context.handles();
    WYE_ASSIGN(const Pin pin, handles.find(desc.program, HandleKind::program));
    if (desc.device != 0) WYE_TRY(handles.find(desc.device, HandleKind::device));
    const plan::ProgramPlan& plan = pin.as<LoadedProgram>().plan();
    Requested requested;
    Residents residents;
    plan::Launch launch;
    WYE_TRY(read_request(desc, requested));
    requested.request.sizes_only = true;
    WYE_TRY(residents.resolve(handles, plan, requested.arguments()));
    WYE_TRY(plan::admit(plan, requested.request, launch));
    for (const plan::BoundBuffer& bound : launch.bound()) {
        if (bound.argument == ir::kNone) continue;
        const bool read = plan.program->buffers[bound.buffer_index].in_outputs() &&
                          bound.kind == plan::ArgumentKind::Host;
        sizes[bound.argument] = read ? bound.read_size : bound.bytes;
    }
    std::copy(launch.groups.begin(), launch.groups.end(), groups);
    return {};
}

}  // namespace wye::exec
