// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/submit.hpp"

#include <fmt/format.h>

#include "exec/dispatch/operations.hpp"
#include "registry/process_state.hpp"

namespace wye::exec {
namespace {

Result<void> compile_kernels(Flow& flow) {
    for (Kernel& kernel : flow.kernels.kernels()) {
        kernel.compiled = kernel.program->find_compiled(flow.session, flow.kernels.form);
        if (kernel.compiled) continue;
        WYE_ASSIGN(kernel.compiled,
                   flow.session.compiled(*kernel.program, flow.kernels.form, flow.route.format,
                                         flow.stats, flow.deadline));
    }
    return {};
}

// Makes the error of a time-out. Work that still runs keeps its objects alive.
Error timed_out(Flow& flow, std::uint64_t pending, registry::InFlight uses, QueueLease& lease) {
    const std::string what = fmt::format("a dispatch of `{}`", flow.program.name());
    const std::string& device = flow.session.info().selector;
    std::string state = "it was stopped";
    if (pending != 0) {
        state = fmt::format("it still runs and keeps {} busy", device);
        std::vector<CompiledRef> programs;
        for (const Kernel& kernel : flow.kernels.kernels()) programs.push_back(kernel.compiled);
        lease.abandon({pending, what, std::move(uses), std::move(programs)});
    }
    std::string fix = "Fix: give a longer time-out, or check that every loop of the program ends";
    if (!flow.kernels.warm()) {
        state += "; it was the program's first launch, in which drivers may still compile";
        fix =
            "Fix: give a longer time-out, prepare the program before it is dispatched "
            "(wye_program_prepare), or check that every loop of the program ends";
    }
    return {Code::TIMEOUT,
            fmt::format("{} on {} did not end within {:g} ms; {}; outputs are not delivered and "
                        "resident buffers it writes are unspecified",
                        what, device, static_cast<double>(flow.desc.timeout_ns) / 1e6, state),
            std::move(fix), flow.program.name()};
}

Error trapped(const Flow& flow) {
    return {Code::TRAPPED,
            fmt::format("program `{}` trapped with code {} on {} ({} trap{})", flow.program.name(),
                        flow.trap_code, flow.session.info().selector, flow.trap_count,
                        flow.trap_count == 1 ? "" : "s"),
            "Fix: look up the code in the program; no output was delivered", flow.program.name()};
}

// The error for a loop that the driver ended: the launch's results are invalid.
Error loops_ended(const Flow& flow) {
    const registry::DeviceInfo& device = flow.session.info();
    return {Code::LIMIT_EXCEEDED,
            fmt::format("the driver of {} ended a loop of program `{}`: it allows an invocation {} "
                        "rounds, all loops together",
                        device.selector, flow.program.name(),
                        device.facts.number(WYE_FACT_KEY_LOOP_ROUNDS).value_or(0)),
            "Fix: run it on another device, such as `cpu`, or do fewer rounds in one dispatch; no "
            "output was delivered",
            flow.program.name()};
}

Result<void> check_trap(Flow& flow, const std::uint32_t* words) {
    if (words[1] == 0) return {};
    if (words[0] == lower::kLoopsEnded) return loops_ended(flow);
    flow.trap_code = words[0];
    flow.trap_count = words[1];
    return trapped(flow);
}

// Work that may outlive this call must not access the caller's memory: uploads end before the part
// that the time limit may cut off, and read-backs start after it.
Result<void> run_limited(Flow& flow, const Operations& operations, QueueLease& lease,
                         registry::InFlight& uses) {
    const bool timed = flow.has(WYE_DISPATCH_TIMED);
    WYE_TRY(lease.run(operations.uploads(), timed, now(), flow.times));
    if (operations.launches().empty()) return {};
    const Clock::time_point start = now();
    const std::uint64_t limit = start < *flow.deadline ? nanoseconds(*flow.deadline - start) : 1;
    WYE_ASSIGN(const std::uint64_t value,
               lease.submit(operations.launches(), timed, start, flow.times));
    std::uint64_t pending = 0;
    auto waited = lease.wait(value, limit, timed, flow.times, pending);
    if (waited.ok() || waited.error().code != Code::TIMEOUT) return waited;
    return timed_out(flow, pending, std::move(uses), lease);
}

// Saves new cache entries while the device is busy.
Result<void> run_unlimited(Flow& flow, std::span<const wye_operation> operations,
                           QueueLease& lease) {
    const bool timed = flow.has(WYE_DISPATCH_TIMED);
    if (flow.stats.unwritten.empty() || operations.empty())
        return lease.run(operations, timed, now(), flow.times);
    WYE_ASSIGN(const std::uint64_t value, lease.submit(operations, timed, now(), flow.times));
    flow.session.save(flow.stats);
    std::uint64_t pending = 0;  // stays 0 without a time limit
    return lease.wait(value, 0, timed, flow.times, pending);
}

Result<void> run(Flow& flow, const Operations& operations, QueueLease& lease,
                 registry::InFlight& uses) {
    const bool limited = flow.desc.timeout_ns != 0;
    if (limited) {
        WYE_TRY(run_limited(flow, operations, lease, uses));
    } else {
        // After a trap no output is delivered, so a program that can trap is read back last.
        const std::size_t first = operations.traps ? operations.read_back : operations.all.size();
        WYE_TRY(run_unlimited(flow, operations.all.first(first), lease));
    }
    if (operations.traps) WYE_TRY(check_trap(flow, lease.trap_words()));
    if (!limited && !operations.traps) return {};
    return lease.run(operations.read_backs(), flow.has(WYE_DISPATCH_TIMED), now(), flow.times);
}

// Some drivers generate code at the first launch of a compiled form.
Result<void> run_guarded(Flow& flow, const Operations& operations, QueueLease& lease,
                         registry::InFlight& uses) {
    if (flow.kernels.warm()) return run(flow, operations, lease, uses);
    const registry::ProcessStateGuard guard(!flow.session.device()->built_in());
    auto result = run(flow, operations, lease, uses);
    flow.kernels.set_warm();
    return result;
}

}  // namespace

Result<void> submit(const registry::HandleTable& handles, Flow& flow) {
    const plan::ProgramPlan& plan = flow.program.plan();
    WYE_TRY(compile_kernels(flow));
    WYE_ASSIGN(QueueLease lease, flow.session.lease(flow.deadline));
    WYE_ASSIGN(registry::InFlight uses, flow.residents.begin_use(handles));
    WYE_ASSIGN(const Operations operations, write_operations(plan, flow.launch, flow.bound,
                                                             flow.kernels, flow.residents, lease));
    auto result = run_guarded(flow, operations, lease, uses);
    if (result.ok() && flow.kernels.is_whole())
        lease.repeats().keep(flow.desc, plan, flow.launch, flow.kernels, operations,
                             flow.bound.bytes_filled);
    return result;
}

}  // namespace wye::exec
