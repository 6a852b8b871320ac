// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/submit.hpp"

#include <fmt/format.h>

#include "exec/dispatch/operations.hpp"
#include "exec/dispatch/staged_arguments.hpp"
#include "exec/dispatch/traps.hpp"

namespace wye::exec {
namespace {

// Makes the error of a time-out. If the work still runs (`runs`), abandons the work together with
// the objects that it uses.
Error give_up(Flow& flow, const Ticket& ticket, bool runs, registry::InFlight uses,
              WorkspaceLease workspace) {
    if (runs) {
        std::vector<CompiledRef> programs;
        flow.kernels.keep(programs);
        flow.session().abandon({ticket, fmt::format("a dispatch of `{}`", flow.program.name()),
                                std::move(uses), std::move(programs), std::move(workspace)});
    }
    return timed_out(fmt::format("dispatch of `{}`", flow.program.name()), flow.program.name(),
                     flow.session().info().selector, flow.desc.timeout_ns, runs,
                     !flow.kernels.warm());
}

// Submits launches, and waits until the deadline for their end.
Result<void> launch_limited(Flow& flow, std::span<const wye_operation> launches,
                            WorkspaceLease& workspace, registry::InFlight& uses) {
    const SubmitOptions options = flow.options().in_place();
    const Clock::time_point start = now();
    const std::uint64_t limit = start < *flow.deadline ? nanoseconds(*flow.deadline - start) : 1;
    WYE_ASSIGN(const Ticket ticket,
               flow.session().submit(launches, flow.uses, options, start, flow.times));
    bool runs = false;
    auto waited = flow.session().wait(ticket, limit, options.timed, flow.times, runs);
    if (waited.ok() || waited.error().code != Code::TIMEOUT) return waited;
    return give_up(flow, ticket, runs, std::move(uses), std::move(workspace));
}

// Runs a launch with a time limit. Work that may outlive this call must not access the caller's
// memory, so the uploads end before the launches are submitted, and the read-backs are submitted
// after the launches have ended.
Result<void> run_limited(Flow& flow, const Operations& operations, StagedArguments& staged,
                         WorkspaceLease& workspace, registry::InFlight& uses) {
    const SubmitOptions options = flow.options();
    WYE_TRY(flow.session().await_place(flow.uses, options.queue, *flow.deadline));
    WYE_TRY(flow.session().await_idle(*flow.deadline, options.queue));
    WYE_TRY(staged.upload());
    WYE_TRY(flow.session().run(operations.uploads(), {}, options, now(), flow.times));
    WYE_TRY(staged.uploaded());
    if (operations.launches().empty()) return {};
    return launch_limited(flow, operations.launches(), workspace, uses);
}

// Runs a launch without a time limit. Writes new cache entries while the device is busy. After a
// trap no output is delivered, so if the program can trap, outputs are read back only after the
// check.
Result<void> run_unlimited(Flow& flow, const Operations& operations, StagedArguments& staged) {
    const SubmitOptions options = flow.options();
    const auto first =
        operations.all.first(operations.traps ? operations.read_back : operations.all.size());
    WYE_TRY(staged.upload());
    if (!first.empty()) {
        WYE_ASSIGN(const Ticket ticket,
                   flow.session().submit(first, flow.uses, options, now(), flow.times));
        if (!operations.traps) staged.start_download();
        if (!flow.stats.unwritten.empty()) flow.session().save(flow.stats);
        WYE_TRY(flow.session().wait_end(ticket, options.timed, flow.times));
    }
    return staged.uploaded();
}

Result<void> run(const registry::HandleTable& handles, Flow& flow, Operations operations,
                 WorkspaceLease& workspace, registry::InFlight& uses) {
    const bool limited = flow.desc.timeout_ns != 0;
    RegisteredTransfers registered;
    find_registered(handles, flow, registered);
    copy_registered(operations, *workspace, registered);
    WYE_TRY(registered.written());
    StagedArguments staged(flow);
    staged.take(operations, *workspace);
    WYE_TRY(limited ? run_limited(flow, operations, staged, workspace, uses)
                    : run_unlimited(flow, operations, staged));
    for (std::uint32_t left = operations.by_iteration ? flow.launch.iterations : 1;
         operations.traps; --left) {
        WYE_TRY(check_trap(flow.program.name(), flow.session().info(), workspace->trap_words,
                           flow.trap));
        if (left == 1) break;
        const auto iteration = operations.next_iteration();
        WYE_TRY(limited
                    ? launch_limited(flow, iteration, workspace, uses)
                    : flow.session().run(iteration, flow.uses, flow.options(), now(), flow.times));
    }
    if (limited || operations.traps)
        WYE_TRY(flow.session().run(operations.read_backs(), {}, flow.options(), now(), flow.times));
    WYE_TRY(staged.download());
    return registered.arrived();
}

Result<void> run_guarded(const registry::HandleTable& handles, Flow& flow,
                         const Operations& operations, WorkspaceLease& workspace,
                         registry::InFlight& uses) {
    const auto guard = flow.session().guard_launch(flow.kernels.warm());
    auto result = run(handles, flow, operations, workspace, uses);
    flow.kernels.set_warm();
    return result;
}

}  // namespace

void find_registered(const registry::HandleTable& handles, const Flow& flow,
                     RegisteredTransfers& out) {
    if (!flow.session().registered().any()) return;
    for (const BoundOperation& one : flow.bound.operations) {
        out.add(flow.session(), one.source, one.size);
        out.add(flow.session(), one.target, one.size);
    }
    out.begin(handles);
}

Error timed_out(const std::string& what, const std::string& subject, const std::string& device,
                std::uint64_t timeout_ns, bool runs, bool first) {
    std::string state = runs ? fmt::format("it still runs and keeps {} busy", device)
                             : std::string("it was stopped");
    std::string fix = "Fix: give a longer time-out, or check that every loop of the program ends";
    if (first) {
        state += "; it was the program's first launch, in which drivers may still compile";
        fix =
            "Fix: give a longer time-out, prepare the program before it is dispatched "
            "(wye_program_prepare), or check that every loop of the program ends";
    }
    return {Code::TIMEOUT,
            fmt::format("a {} on {} did not end within {:g} ms; {}; outputs are not delivered and "
                        "resident buffers it writes are unspecified",
                        what, device, static_cast<double>(timeout_ns) / 1e6, state),
            std::move(fix), subject};
}

namespace {

// Finds all kernels and, if `compiles`, compiles those that are not in memory. False: a kernel is
// not in memory, and `compiles` is false.
Result<bool> compile_all(Flow& flow, bool compiles) {
    bool all = true;
    for (Kernel& kernel : flow.kernels.kernels()) {
        kernel.compiled = kernel.program->find_compiled(flow.session(), flow.kernels.form);
        all = all && kernel.compiled != nullptr;
    }
    if (!all && !compiles) return false;
    for (Kernel& kernel : flow.kernels.kernels()) {
        if (kernel.compiled) {
            flow.session().counters().found();
            continue;
        }
        WYE_ASSIGN(kernel.compiled,
                   flow.session().compiled(*kernel.program, flow.kernels.form, flow.route.format,
                                           flow.stats, flow.deadline));
    }
    return true;
}

// Whether the driver says that all workgroups of the launch run at once.
Result<bool> fits_at_once(const Flow& flow) {
    CompiledProgram& compiled = *flow.kernels.kernels().front().compiled;
    std::uint32_t most = compiled.resident_groups.load(std::memory_order_relaxed);
    if (most == CompiledProgram::kNotAsked) {
        auto said = compiled.native.info();
        if (!said.ok()) return flow.session().noted(std::move(said).error());
        most = std::min(said->resident_groups, CompiledProgram::kNotAsked - 1);
        compiled.resident_groups.store(most, std::memory_order_relaxed);
    }
    const auto& [x, y, z] = flow.launch.groups;
    return std::uint64_t{x} * y <= most / std::max(z, 1U);
}

Result<bool> take_kernels(Flow& flow, bool compiles) {
    Kernels& kernels = flow.kernels;
    WYE_ASSIGN(bool all, compile_all(flow, compiles));
    if (!all) return false;
    std::uint64_t forms = kernels.kernels().size();
    bool split = false;
    if (kernels.waits_for_grid()) {
        WYE_ASSIGN(const bool fits, fits_at_once(flow));
        if (!fits) {
            kernels.cooperative = WYE_COOPERATIVE_SPLIT_ROOM;
            WYE_TRY(kernels.split(flow.program, flow.launch));
            split = true;
            WYE_ASSIGN(all, compile_all(flow, compiles));
            if (!all) return false;
            forms += kernels.kernels().size();
        }
    }
    if (flow.launch.indirect) {
        WYE_ASSIGN(kernels.grid_check, flow.session().grid_check(compiles, flow.deadline));
        if (!kernels.grid_check) return false;
    }
    if (flow.pipeline != nullptr) flow.pipeline->looked_up(forms, flow.stats);
    // Outputs are delivered only after the host has checked for traps and for refused grids.
    const bool checked = kernels.traps() || flow.launch.indirect;
    const bool apart = flow.bound.reads_apart || (checked && flow.launch.reads_residents());
    if (!split && apart == flow.bound.reads_apart) return true;
    WYE_TRY(bind(flow.program.plan(), flow.launch, flow.session().limits(), kernels, apart,
                 flow.bound));
    return true;
}

}  // namespace

Result<void> compile_kernels(Flow& flow) {
    WYE_ASSIGN(const bool all, take_kernels(flow, true));
    (void)all;
    return {};
}

Result<bool> find_kernels(Flow& flow) { return take_kernels(flow, false); }

Result<void> submit(const registry::HandleTable& handles, Flow& flow) {
    const plan::ProgramPlan& plan = flow.program.plan();
    WYE_TRY(compile_kernels(flow));
    WYE_TRY(flow.session().ready());
    WorkspaceLease workspace = flow.session().workspace();
    WYE_ASSIGN(registry::InFlight uses, flow.residents.begin_use(handles));
    WYE_ASSIGN(const Operations operations,
               write_operations(plan, flow.launch, flow.bound, flow.kernels, flow.residents,
                                flow.session(), *workspace));
    flow.residents.uses(flow.launch, flow.uses);
    auto result = run_guarded(handles, flow, operations, workspace, uses);
    if (result.ok()) flow.keep_operations(operations);
    return result;
}

}  // namespace wye::exec
