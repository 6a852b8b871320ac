// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/dispatch.hpp"

#include <fmt/format.h>

#include "exec/dispatch/bind.hpp"
#include "exec/dispatch/request.hpp"
#include "exec/dispatch/resolve.hpp"
#include "exec/dispatch/steps.hpp"
#include "exec/program/program_object.hpp"
#include "lower/lower.hpp"
#include "lower/passes/native_functions.hpp"
#include "plan/admit.hpp"
#include "plan/check_free.hpp"
#include "plan/split.hpp"
#include "registry/process_state.hpp"
#include "route/choose_variant.hpp"
#include "route/route.hpp"

namespace wye::exec {
namespace {

using registry::HandleKind;
using registry::Pin;

// One dispatch on its way through the stages.
struct Flow {
    // Not an aggregate: the large arrays of a request and a launch stay uninitialised.
    Flow(const wye_dispatch_desc& d, ProgramObject& p, DeviceSession& s)
        : desc(d), program(p), session(s) {}
    Flow(const Flow&) = delete;
    Flow& operator=(const Flow&) = delete;
    // What no submit wrote.
    ~Flow() {
        if (!made.unwritten.empty()) session.write(made);
    }

    const wye_dispatch_desc& desc;
    ProgramObject& program;
    DeviceSession& session;
    std::optional<Clock::time_point> deadline;
    Requested requested;
    Residents residents;
    plan::Launch launch;
    plan::Split split;
    PreparedKey key;
    const lower::Preconditions* asked = nullptr;  // null: the request has one form
    PreparedRef prepared;
    Steps steps;
    PrepareStats made;
    Batch batch;
    RunTimes times;
};

// A native variant never runs on a folded grid. It promises nothing about what it stores, so
// outputs are zeroed even where the body would not need it.
Result<void> variant_stage(Flow& flow) {
    if ((flow.desc.flags & WYE_DISPATCH_VARIANTS) == 0 || flow.key.folded) return {};
    WYE_ASSIGN(flow.key.variant,
               route::choose_variant(flow.session.info(), flow.program.program()));
    if (flow.key.variant != ir::kNone) plan::zero_all_outputs(flow.program.plan(), flow.launch);
    return {};
}

// What the host can hand to the device: lowered code, or the chosen variant's own format.
std::vector<std::string_view> formats(const Flow& flow) {
    std::vector<std::string_view> out = lower::formats();
    if (flow.key.variant != ir::kNone)
        out.push_back(flow.program.program().variants[flow.key.variant].format);
    return out;
}

// Every unmet need of the launch, and a device of this machine that has them all.
Result<void> check_launch(const Context& context, const Flow& flow) {
    const plan::ProgramPlan& plan = flow.program.plan();
    const bool cooperative = (flow.desc.flags & WYE_DISPATCH_COOPERATIVE) != 0;
    const std::vector<std::string_view> made = formats(flow);
    const auto check = [&](const registry::DeviceInfo& device) {
        return route::check_launch(device, plan, flow.launch, cooperative, made);
    };
    auto checked = check(flow.session.info());
    if (checked.ok()) return checked;
    const auto other = context.alternative([&](const registry::DeviceInfo& device) {
        return check(device).ok() ? std::vector<std::string>{}
                                  : std::vector<std::string>{"it does not fit"};
    });
    if (other)
        checked.error().fix =
            fmt::format("Fix: open `{}`, which can run it, or change the program", *other);
    return checked;
}

// A device that this program was prepared for was checked then; only sizes can still be too large.
Result<void> route_stage(const Context& context, Flow& flow) {
    WYE_TRY(flow.session.alive());
    const plan::Count3& most = flow.session.max_groups();
    const plan::Count3& groups = flow.launch.groups;
    flow.key.workgroup = flow.launch.workgroup;
    flow.key.folded = groups[0] > most[0] || groups[1] > most[1] || groups[2] > most[2];
    WYE_TRY(variant_stage(flow));
    // A native variant is what it is, and a device that runs the program itself has one form, which
    // is strict: within every budget.
    if (flow.key.variant == ir::kNone && flow.session.format() != WYE_FORMAT_PROGRAM) {
        const plan::ProgramPlan& plan = flow.program.plan();
        const std::uint32_t budget = flow.requested.request.ulp_budget;
        const lower::NativeSet natives =
            lower::choose_natives(flow.program.program(), flow.session.format(), budget);
        if (natives != 0) flow.key.ulp_budget = budget;
        // Phases are programs of their own, and so are other workgroup sizes: they stay checked.
        if (!plan.analysis.uses_grid_barrier && !flow.launch.has_override) {
            WYE_ASSIGN(flow.asked, flow.program.preconditions(natives));
            flow.key.check_free = plan::check_free(plan, flow.launch, *flow.asked);
        }
    }
    flow.prepared = flow.program.find_prepared(flow.session, flow.key);
    bool fits = flow.prepared != nullptr && (flow.desc.flags & WYE_DISPATCH_COOPERATIVE) == 0;
    for (const plan::BoundBuffer& bound : flow.launch.bound())
        fits = fits && bound.bytes <= flow.session.max_buffer_bytes();
    if (!fits) WYE_TRY(check_launch(context, flow));
    if (flow.launch.empty) flow.prepared.reset();  // nothing runs, so nothing is compiled
    if (flow.key.folded) {
        WYE_ASSIGN(flow.split, plan::split_grid(groups, most));
    } else {
        flow.split = {groups, groups, 1};
    }
    return {};
}

Result<void> lower_stage(Flow& flow) {
    if (flow.launch.empty) return {};
    // A grid barrier ends a launch, unless the request asks for a cooperative one.
    const bool splits = flow.program.plan().analysis.uses_grid_barrier &&
                        flow.key.variant == ir::kNone &&
                        (flow.desc.flags & WYE_DISPATCH_COOPERATIVE) == 0;
    if (splits) {
        WYE_TRY(flow.steps.split(flow.program, flow.session, flow.key, flow.launch, flow.deadline,
                                 flow.made));
        flow.prepared = flow.steps.kept();
        return {};
    }
    if (!flow.prepared) {
        WYE_ASSIGN(flow.prepared,
                   flow.session.prepared(flow.program, flow.key, flow.made, flow.deadline));
    }
    flow.steps.whole(*flow.prepared, flow.launch);
    return {};
}

// After a time-out: says what is lost; what still runs keeps all it uses.
Error timed_out(Flow& flow, std::uint64_t pending, registry::InFlight uses, QueueLease& lease) {
    const std::string what = fmt::format("a dispatch of `{}`", flow.program.program().name);
    const std::string& device = flow.session.info().selector;
    std::string state = "it was stopped";
    if (pending != 0) {
        state = fmt::format("it still runs and keeps {} busy", device);
        lease.abandon({pending, what, std::move(uses), flow.prepared});
    }
    std::string fix = "Fix: give a longer time-out, or check that every loop of the program ends";
    if (!flow.steps.warm()) {
        state += "; it was the program's first launch, in which drivers may still compile";
        fix =
            "Fix: give a longer time-out, prepare the program before it is dispatched "
            "(wye_program_prepare), or check that every loop of the program ends";
    }
    return {Code::TIMEOUT,
            fmt::format("{} on {} did not end within {:g} ms; {}; outputs are not delivered and "
                        "resident buffers it writes are unspecified",
                        what, device, static_cast<double>(flow.desc.timeout_ns) / 1e6, state),
            std::move(fix), flow.program.program().name};
}

Error trapped(const Flow& flow, const wye_report& report) {
    return {Code::TRAPPED,
            fmt::format("program `{}` trapped with code {} on {} ({} trap{})",
                        flow.program.program().name, report.trap_code, flow.session.info().selector,
                        report.trap_count, report.trap_count == 1 ? "" : "s"),
            "Fix: look up the code in the program; no output was delivered",
            flow.program.program().name};
}

// The driver ended a loop by itself: what the launch wrote is worthless.
Error loops_ended(const Flow& flow) {
    const registry::DeviceInfo& device = flow.session.info();
    return {Code::LIMIT_EXCEEDED,
            fmt::format("the driver of {} ended a loop of program `{}` by itself: it allows an "
                        "invocation {} rounds, all loops together",
                        device.selector, flow.program.program().name,
                        device.facts.number(WYE_FACT_KEY_LOOP_ROUNDS).value_or(0)),
            "Fix: run it on another device, such as `cpu`, or do fewer rounds in one dispatch; no "
            "output was delivered",
            flow.program.program().name};
}

Result<void> submit_stage(Flow& flow, QueueLease& lease, registry::InFlight& uses,
                          wye_report& report) {
    const bool timed = (flow.desc.flags & WYE_DISPATCH_TIMED) != 0;
    const Batch& batch = flow.batch;
    std::uint64_t pending = 0;
    std::uint64_t limit = 0;

    // Work that may outlive this call must not touch the caller's memory: with a time limit,
    // uploads end before the launch, and read-backs start after it. After a trap nothing is
    // delivered, so a program that can trap reads back last too.
    const bool apart = flow.desc.timeout_ns != 0;
    std::span<const wye_operation> first = batch.all;
    std::span<const wye_operation> last;
    if (apart || batch.traps) {
        first = batch.all.first(batch.read_back);
        last = batch.read_backs();
    }
    if (apart) {
        WYE_TRY(lease.run(batch.uploads(), 0, timed, now(), flow.times, pending));
        first = batch.launches();
        const Clock::time_point time = now();
        limit = time < *flow.deadline ? nanoseconds(*flow.deadline - time) : 1;
    }
    // Writing may take long where files are far away, and a time limit counts from here.
    if (!apart && !flow.made.unwritten.empty()) flow.times.unwritten = &flow.made;
    auto ran = lease.run(first, limit, timed, now(), flow.times, pending);
    if (!ran.ok()) {
        if (ran.error().code != Code::TIMEOUT || !apart) return ran;
        return timed_out(flow, pending, std::move(uses), lease);
    }
    if (batch.traps && lease.trap_record()[1] != 0) {
        if (lease.trap_record()[0] == lower::kLoopsEnded) return loops_ended(flow);
        report.trap_code = lease.trap_record()[0];
        report.trap_count = lease.trap_record()[1];
        return trapped(flow, report);
    }
    if (last.empty()) return {};
    return lease.run(last, 0, timed, now(), flow.times, pending);
}

// The first launch of a compiled form is where some drivers generate code.
Result<void> submit_first(Flow& flow, QueueLease& lease, registry::InFlight& uses,
                          wye_report& report) {
    if (flow.steps.warm()) return submit_stage(flow, lease, uses, report);
    const registry::ProcessStateGuard guard(!flow.session.device()->built_in());
    auto result = submit_stage(flow, lease, uses, report);
    flow.steps.set_warm();
    return result;
}

void report_stage(const Flow& flow, Clock::time_point start, wye_report& report) {
    report.device = flow.desc.device;
    std::copy(flow.launch.groups.begin(), flow.launch.groups.end(), report.groups);
    report.compiled = flow.made.compiled == 0 ? 0 : 1;
    report.disk_cache = disk_use(flow.made);
    for (const Step& step : flow.steps.steps()) report.native_functions |= step.prepared->natives;
    report.variant = flow.key.variant == ir::kNone || !flow.prepared ? 0 : flow.key.variant + 1;
    report.check_free = flow.key.check_free ? 1 : 0;
    report_times(flow.times, start, (flow.desc.flags & WYE_DISPATCH_TIMED) != 0, report);
    report.bytes_uploaded = flow.batch.bytes_uploaded;
    report.bytes_downloaded = report.trap_count == 0 ? flow.batch.bytes_downloaded : 0;
    report.bytes_filled = flow.batch.bytes_filled;
}

std::string_view text_of(wye_string text) {
    return text.data == nullptr ? std::string_view() : std::string_view(text.data, text.size);
}

// The label and the profile of a request are for people: they are recorded here.
void log_stage(const Context& context, const Flow& flow, const Result<void>& result,
               const wye_report& report) {
    context.log(WYE_LOG_DEBUG, "dispatch",
                fmt::format("label `{}`, profile `{}`: `{}` on {}, {}x{}x{} workgroups, {} ns, {} "
                            "bytes up, {} down: {}",
                            text_of(flow.desc.label), text_of(flow.desc.profile),
                            flow.program.program().name, flow.session.info().selector,
                            flow.launch.groups[0], flow.launch.groups[1], flow.launch.groups[2],
                            report.wall_ns, report.bytes_uploaded, report.bytes_downloaded,
                            result.ok() ? "ok" : code_text(result.error().code)));
}

}  // namespace

Result<void> dispatch_in_full(Context& context, const wye_dispatch_desc& desc,
                              Clock::time_point start, wye_report* out) {
    const registry::HandleTable& handles = context.handles();
    WYE_ASSIGN(const Pin program, handles.find(desc.program, HandleKind::program));
    WYE_ASSIGN(const Pin device, handles.find(desc.device, HandleKind::device));
    Flow flow(desc, program.as<ProgramObject>(), device.as<DeviceSession>());
    const plan::ProgramPlan& plan = flow.program.plan();
    if (desc.timeout_ns != 0) flow.deadline = after(start, desc.timeout_ns);

    WYE_TRY(read_request(desc, flow.requested));
    WYE_TRY(flow.residents.resolve(handles, plan, flow.requested.arguments()));
    WYE_TRY(plan::admit(plan, flow.requested.request, flow.launch));
    WYE_TRY(route_stage(context, flow));
    WYE_TRY(flow.residents.own(handles, plan, flow.session, flow.requested.arguments()));
    WYE_TRY(lower_stage(flow));
    WYE_ASSIGN(QueueLease lease, flow.session.lease(flow.deadline));
    WYE_ASSIGN(registry::InFlight uses, flow.residents.begin_use(handles));
    WYE_ASSIGN(flow.batch, exec::bind(plan, flow.launch, flow.split, flow.steps.steps(),
                                      flow.residents, lease));
    wye_report report{};
    auto result = submit_first(flow, lease, uses, report);
    if (result.ok() || result.error().code == Code::TRAPPED) report_stage(flow, start, report);
    if (out != nullptr && (result.ok() || result.error().code == Code::TRAPPED)) {
        report.header = out->header;
        *out = report;
    }
    if (result.ok() && flow.steps.is_whole())
        lease.repeats().keep(desc, plan, flow.launch, flow.batch, report, flow.asked);
    if (context.logs()) log_stage(context, flow, result, report);
    return result;
}

Result<void> dispatch_sizes(Context& context, const wye_dispatch_desc& desc, std::uint64_t* sizes,
                            std::uint32_t* groups) {
    const registry::HandleTable& handles = context.handles();
    WYE_ASSIGN(const Pin pin, handles.find(desc.program, HandleKind::program));
    if (desc.device != 0) WYE_TRY(handles.find(desc.device, HandleKind::device));
    const plan::ProgramPlan& plan = pin.as<ProgramObject>().plan();
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
