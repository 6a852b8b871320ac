// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/decide.hpp"

#include "exec/dispatch/own.hpp"
#include "exec/dispatch/route.hpp"
#include "plan/admit.hpp"

namespace wye::exec {

Result<void> decide(Context& context, Flow& flow) {
    const Span span(context.trace(), "decide");
    const registry::HandleTable& handles = context.handles();
    const plan::ProgramPlan& plan = flow.program.plan();
    WYE_TRY(read_request(flow.desc, flow.rules, flow.requested));
    plan::Request& request = flow.requested.request;
    const bool cooperative = flow.has(WYE_DISPATCH_COOPERATIVE);
    const route::Demands demands{cooperative, flow.has(WYE_DISPATCH_VARIANTS)};

    WYE_TRY(flow.residents.resolve(handles, plan, flow.requested.arguments()));
    WYE_TRY(flow.residents.resolve_grid(handles, request));
    auto admitted = plan::admit(plan, request, flow.launch);
    if (!flow.has_device()) {
        if (!admitted.ok()) return admitted;
        WYE_ASSIGN(Chosen chosen,
                   choose(context, flow.desc.program, flow.program, flow.launch, demands));
        flow.take(std::move(chosen));
    }
    // Errors of ownership take precedence over UNSUPPORTED.
    if (admitted.ok() || admitted.error().code == Code::UNSUPPORTED)
        WYE_TRY(own(handles, plan, flow.session(), flow.residents, request.arguments));
    WYE_TRY(std::move(admitted));
    const route::Limits& limits = flow.session().limits();
    WYE_ASSIGN(flow.route,
               route(context, flow.program, flow.session(), flow.launch, demands, flow.routed.by));
    WYE_TRY(lower(flow.program, flow.launch, limits, flow.route,
                  {request.ulp_budget, cooperative, profile_id(flow.desc.profile)}, flow.kernels));
    // If the caller waits with a time limit, a separate submit reads outputs back after the launch
    // has ended.
    const bool apart = flow.desc.timeout_ns != 0 && !flow.rules.asynchronous;
    return bind(plan, flow.launch, limits, flow.kernels, apart, flow.bound);
}

}  // namespace wye::exec
