// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/dispatch.hpp"

#include <algorithm>

#include "exec/dispatch/decide.hpp"
#include "exec/dispatch/report.hpp"
#include "exec/dispatch/submit.hpp"
#include "plan/admit.hpp"

namespace wye::exec {
using registry::HandleKind;

Result<void> dispatch_in_full(Context& context, const wye_dispatch_desc& desc,
                              Clock::time_point start, Keep keep, wye_report* out) {
    const registry::HandleTable& handles = context.handles();
    WYE_ASSIGN(Target target, Target::find(handles, desc));
    Flow flow(target);
    flow.keep = keep;
    if (flow.has_device()) {
        WYE_ASSIGN(flow.queue, NamedQueue::find(handles, desc.queue, flow.session(), true));
    }
    if (desc.timeout_ns != 0) flow.deadline = after(start, desc.timeout_ns);
    const Span span(context.trace(), "dispatch",
                    {.subject = flow.program.name(), .label = label_of(desc)}, start);

    WYE_TRY(decide(context, flow));
    auto result = submit(handles, flow);
    wye_report report = make_report(flow, start);
    flow.counted = true;
    flow.count_launch();
    flow.session().counters().dispatched(result.ok(), report);
    if (out != nullptr && (result.ok() || result.error().code == Code::TRAPPED)) {
        report.header = out->header;
        *out = report;
    }
    if (context.logs())
        log_dispatch(context, desc, flow.program.name(), flow.session().info().selector, result,
                     report);
    return result;
}

Result<void> dispatch_sizes(Context& context, const wye_dispatch_desc& desc, std::uint64_t* sizes,
                            std::uint32_t* groups) {
    const registry::HandleTable& handles = context.handles();
    WYE_ASSIGN(const Target target, Target::find(handles, desc, false));
    if (desc.queue != 0) WYE_TRY(handles.find(desc.queue, HandleKind::queue));
    const plan::ProgramPlan& plan = target.program().plan();
    Requested requested;
    Residents residents;
    plan::Launch launch;
    WYE_TRY(read_request(target.desc(), {}, requested));
    requested.request.sizes_only = true;
    for (plan::Argument& argument : requested.arguments())
        argument.returned = argument.output_size == plan::Argument::kAllBytes;
    WYE_TRY(residents.resolve(handles, plan, requested.arguments()));
    WYE_TRY(residents.resolve_grid(handles, requested.request));
    WYE_TRY(plan::admit(plan, requested.request, launch));
    for (const plan::BoundBuffer& bound : launch.bound()) {
        if (bound.argument == ir::kNone) continue;
        const bool read =
            plan.program->buffers[bound.buffer_index].in_outputs() &&
            (bound.kind == plan::ArgumentKind::Host || requested.storage[bound.argument].asks());
        sizes[bound.argument] = read ? bound.read_size : bound.bytes;
    }
    std::copy(launch.groups.begin(), launch.groups.end(), groups);
    return {};
}

}  // namespace wye::exec
