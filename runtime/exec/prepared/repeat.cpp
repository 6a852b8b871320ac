// SPDX-License-Identifier: Apache-2.0
#include "exec/prepared/repeat.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>

#include "exec/context.hpp"
#include "exec/device/buffer.hpp"
#include "exec/device/public_queue.hpp"
#include "exec/device/session.hpp"
#include "exec/dispatch/operations.hpp"
#include "exec/dispatch/report.hpp"
#include "exec/dispatch/request.hpp"
#include "exec/pipeline/pipeline.hpp"
#include "plan/check_free.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::exec {
namespace {

// Compares element by element; a constant size is inlined.
template <typename T>
bool same(const T* a, const T* b, std::uint64_t count) {
    static_assert(std::has_unique_object_representations_v<T>);
    for (std::uint64_t i = 0; i < count; ++i)
        if (std::memcmp(a + i, b + i, sizeof(T)) != 0) return false;
    return true;
}

bool keepable(const wye_dispatch_desc& desc, const plan::Launch& launch,
              const Operations& operations) {
    if (!Repeats::may_have(desc) || operations.traps || operations.moves || launch.empty)
        return false;
    if (operations.launches().size() != operations.all.size() ||
        operations.all.size() > Repeat::kOperations)
        return false;
    // A read-back of no bytes has no operation either.
    return std::all_of(
        desc.arguments, desc.arguments + desc.argument_count, [](const wye_argument& a) {
            return a.kind == WYE_ARGUMENT_RESIDENT && a.output == nullptr && a.output_size == 0;
        });
}

// Whether the launch with these parameters chooses the same form, check-free or not, as the kept
// request, and is deterministic if and only if that is.
bool same_form(const Repeat& kept, const plan::ProgramPlan& plan, const wye_dispatch_desc& desc) {
    const std::span<const std::uint64_t> params(desc.params, desc.param_count);
    if (plan.params_decide_verdict &&
        plan::is_deterministic(plan, params, kept.lengths, kept.groups, kept.workgroup) !=
            kept.deterministic)
        return false;
    if (kept.preconditions == nullptr) return true;
    const lower::LaunchFacts facts{params, kept.lengths, kept.groups, kept.workgroup};
    return kept.preconditions->hold(facts) == (kept.check_free != 0);
}

}  // namespace

[[gnu::hot]] std::unique_ptr<Repeat>& Repeats::place(const wye_dispatch_desc& desc) {
    std::uint64_t sum = desc.program + desc.pipeline;  // handles differ in their low bits
    for (std::uint64_t i = 0; i < desc.argument_count; ++i)
        sum = sum * 5 + desc.arguments[i].buffer;
    return kept_[static_cast<std::size_t>(sum % kKept)];
}

void Repeat::make_command(const registry::DeviceRef& device) {
    asked = true;
    std::vector<wye_operation> described = operations;
    for (wye_operation& operation : described) {
        if (operation.kind != WYE_OPERATION_DISPATCH) continue;
        operation.u.dispatch.late_size = params_size;
        operation.u.dispatch.again = 0;  // commands have no hints
    }
    wye_command_desc desc{};
    desc.header = sdk::header_of(sizeof desc);
    desc.operations = described.data();
    desc.operation_count = described.size();
    desc.params_size = params_size;
    auto made = registry::NativeCommand::create(device, desc);
    if (!made.ok()) return;  // submitting the operations has the same effect
    command.emplace(std::move(made).value());
    execute = sdk::new_operation(WYE_OPERATION_EXECUTE);
    execute.u.execute = {command->object(), nullptr, block.data(), 0, params_size};
    last_queue = 0;
    last_value = 0;
}

[[gnu::hot]] std::span<const wye_operation> Repeat::work(const registry::DeviceRef& device,
                                                         const QueuePool& queues) {
    if (!asked) [[unlikely]]
        make_command(device);
    if (!command) return operations;
    if (command->most_pending() != 0 && queues.is_pending(last_queue, last_value))
        return operations;
    return {&execute, 1};
}

[[gnu::hot]] void Repeat::submitted(std::span<const wye_operation> work, const Ticket& ticket) {
    if (work.data() != &execute) return;
    last_queue = ticket.index;
    last_value = ticket.value;
}

[[gnu::hot]] Repeat* Repeats::find(const wye_dispatch_desc& desc, const plan::ProgramPlan& plan) {
    std::unique_ptr<Repeat>& kept = place(desc);
    if (!kept || !same_request(desc, kept->request) ||
        profile_id(desc.profile) != kept->requested_profile ||
        !same(kept->arguments.data(), desc.arguments, desc.argument_count))
        return nullptr;
    if (kept->sending || same(kept->params.data(), desc.params, desc.param_count))
        return kept.get();
    if (plan.params_decide_sizes || !same_form(*kept, plan, desc)) return nullptr;
    if (!plan::pack_params(plan, {desc.params, desc.param_count}, kept->block.data()).ok()) {
        // It must never be found again, since its block is half-written.
        kept->request.argument_count = 0;
        return nullptr;
    }
    std::copy_n(desc.params, desc.param_count, kept->params.data());
    return kept.get();
}

void Repeats::keep(const wye_dispatch_desc& desc, const plan::ProgramPlan& plan,
                   const plan::Launch& launch, const Kernels& kernels, const Operations& operations,
                   std::span<const BufferUse> uses, std::uint64_t bytes_filled,
                   const QueuePool& queues) {
    if (!keepable(desc, launch, operations)) return;
    const Form& form = kernels.form;
    const lower::Preconditions* preconditions = kernels.preconditions;
    std::unique_ptr<Repeat>& kept = place(desc);
    if (kept &&
        (kept->sending || (kept->command && queues.is_pending(kept->last_queue, kept->last_value))))
        return;
    try {
        if (!kept) kept = std::make_unique<Repeat>();
        kept->operations.assign(operations.all.begin(), operations.all.end());
    } catch (const std::bad_alloc&) {  // the request ran, but is not kept
        kept.reset();
        return;
    }
    Repeat& out = *kept;
    out.command.reset();
    out.asked = false;
    out.request = desc;
    out.frees = UINT64_MAX;  // unknown
    std::copy_n(desc.arguments, desc.argument_count, out.arguments.data());
    std::copy_n(desc.params, desc.param_count, out.params.data());
    std::ranges::transform(std::span(desc.arguments, desc.argument_count), out.buffers.begin(),
                           &wye_argument::buffer);
    std::ranges::copy(uses, out.uses.begin());
    out.groups = launch.groups;
    out.variant = form.variant == ir::kNone ? 0 : form.variant + 1;
    out.natives = form.natives;
    out.profile = form.profile;
    out.requested_profile = profile_id(desc.profile);
    out.check_free = form.check_free ? 1 : 0;
    out.cooperative = kernels.cooperative;
    out.determinism = determinism(plan, launch, form);
    out.preconditions =
        preconditions != nullptr && preconditions->read_params() ? preconditions : nullptr;
    out.deterministic = launch.deterministic;
    if (out.preconditions != nullptr || plan.params_decide_verdict)
        plan::launch_lengths(plan, launch, out.lengths);
    out.workgroup = launch.workgroup;
    out.bytes_filled = bytes_filled;
    out.params_size = launch.params_size;
    std::memcpy(out.block.data(), launch.params, launch.params_size);
    for (wye_operation& operation : out.operations) {
        if (operation.kind != WYE_OPERATION_DISPATCH) continue;
        wye_dispatch_op& dispatch = operation.u.dispatch;
        std::copy_n(dispatch.bindings, launch.buffer_count, out.bindings.data());
        dispatch.bindings = out.bindings.data();
        dispatch.params = out.block.data();
    }
}

namespace {

// The values for the report of a repeated request, copied while its lock is held.
struct Known {
    explicit Known(const Repeat& repeat)
        : groups(repeat.groups),
          variant(repeat.variant),
          check_free(repeat.check_free),
          cooperative(repeat.cooperative),
          determinism(repeat.determinism),
          natives(repeat.natives),
          profile(repeat.profile),
          bytes_filled(repeat.bytes_filled) {}
    std::array<std::uint32_t, 3> groups;
    std::uint32_t variant, check_free, cooperative, determinism;
    std::uint64_t natives, profile, bytes_filled;
};

void write_report(const wye_dispatch_desc& desc, const Known& known, wye_report& report) {
    const wye_header header = report.header;
    report = {};
    report.header = header;
    report.device = desc.device;
    std::ranges::copy(known.groups, report.groups);
    report.variant = known.variant;
    report.check_free = known.check_free;
    report.cooperative = known.cooperative;
    report.determinism = known.determinism;
    report.native_functions = known.natives;
    report.profile = known.profile;
    report.bytes_filled = known.bytes_filled;
}

void write_report(const wye_dispatch_desc& desc, const Known& known, const RunTimes& times,
                  Clock::time_point start, wye_report& report) {
    write_report(desc, known, report);
    report_times(times, start, (desc.flags & WYE_DISPATCH_TIMED) != 0, report);
}

[[gnu::cold, gnu::noinline]] void log_repeat(const Context& context, const wye_dispatch_desc& desc,
                                             const LoadedProgram& program,
                                             const DeviceSession& session, const Known& known,
                                             const RunTimes& times, Clock::time_point start,
                                             const Result<void>& result) {
    wye_report report{};
    write_report(desc, known, times, start, report);
    log_dispatch(context, desc, program.name(), session.info().selector, result, report);
}

[[gnu::cold, gnu::noinline]] void trace_repeat(const wye_dispatch_desc& desc,
                                               const LoadedProgram& program, Trace& trace,
                                               const RunTimes& times, Clock::time_point start) {
    const std::uint64_t begin_ns = trace_ns(start), queued_ns = trace_ns(times.queued);
    const Span all(&trace, "dispatch", {.subject = program.name(), .label = label_of(desc)}, start);
    trace.span("repeat", {}, {begin_ns, queued_ns});
    if (times.ended) trace.span("wait", {}, {queued_ns, trace_ns(*times.ended)});
}

// Names the commands for the trace, which knows only the names of programs.
[[gnu::cold, gnu::noinline]] void name_commands(std::span<const wye_operation> work,
                                                const LoadedProgram& program, Trace& trace) {
    for (const wye_operation& one : work)
        if (one.kind == WYE_OPERATION_EXECUTE)
            trace.name_object(one.u.execute.command, program.name());
}

// The submitted work of a repeated request; empty if the request is not a repeated one.
struct Submitted {
    bool at_once = false;  // it does not wait for room on the device
    std::optional<Known> known;
    RunTimes times;
    Result<void> sent;
    Ticket ticket;
};

// Whether the handles are live. If no buffer was freed since the last check, its result still
// holds.
[[nodiscard]] bool are_live(const registry::HandleTable& handles, Repeat& repeat,
                            const QueuePool& queues) WYE_REQUIRES(queues.mutex) {
    if (repeat.frees == queues.frees()) [[likely]]
        return true;
    registry::InFlight uses;
    if (!handles.try_use(repeat.handles(), uses)) return false;
    repeat.frees = queues.frees();
    return true;
}

// Finds the kept request and begins its submit. Null: it is not kept, or a handle is not live.
[[nodiscard, gnu::always_inline]] inline Repeat* begin_again(
    const registry::HandleTable& handles, const wye_dispatch_desc& desc,
    const LoadedProgram& program, DeviceSession& session, QueuePool& queues, std::uint32_t queue,
    Submitted& out, QueuePool::Sending& sending) WYE_REQUIRES(queues.mutex) {
    // No work was in the line when the call began.
    const auto options = SubmitOptions((desc.flags & WYE_DISPATCH_TIMED) != 0, queue)
                             .waiting(out.at_once, {})
                             .in_place();
    for (;;) {
        Repeat* const repeat = queues.repeats.find(desc, program.plan());
        if (repeat == nullptr) return nullptr;
        if (repeat->sending) [[unlikely]] {
            queues.await_sends();
            continue;
        }
        if (!are_live(handles, *repeat, queues)) return nullptr;
        const auto begun =
            queues.begin(session.device(), repeat->used(), options, sending, &repeat->sending);
        if (!begun.ok()) [[unlikely]] {
            out.sent = begun.error();
            return repeat;
        }
        if (*begun) [[likely]]
            return repeat;
    }
}

[[nodiscard, gnu::always_inline]] inline bool submit_again(const registry::HandleTable& handles,
                                                           const wye_dispatch_desc& desc,
                                                           const LoadedProgram& program,
                                                           DeviceSession& session,
                                                           std::uint32_t queue, bool waits,
                                                           Submitted& out) {
    QueuePool& queues = session.queues();
    QueuePool::Sending sending;
    Repeat* repeat = nullptr;
    {
        const sdk::Lock lock(queues.mutex);
        repeat = begin_again(handles, desc, program, session, queues, queue, out, sending);
        if (repeat == nullptr) return false;
        out.known.emplace(*repeat);
        if (!out.sent.ok()) [[unlikely]]
            return true;
    }
    const std::span<const wye_operation> work = repeat->work(session.device(), queues);
    if (session.trace() != nullptr) [[unlikely]]
        name_commands(work, program, *session.trace());
    out.sent = queues.send(sending, work);
    const sdk::Lock lock(queues.mutex);
    queues.end(sending, out.sent.ok());
    if (!out.sent.ok()) return true;
    out.ticket = std::move(sending.ticket);
    repeat->submitted(work, out.ticket);
    if (waits) session.counters().repeated(repeat->bytes_filled);
    return true;
}

}  // namespace

bool submit_repeated(const registry::HandleTable& handles, const wye_dispatch_desc& desc,
                     const LoadedProgram& program, DeviceSession& session, std::uint32_t queue,
                     Repeated& out) {
    Submitted work;
    work.at_once = out.at_once;
    if (!submit_again(handles, desc, program, session, queue, false, work)) return false;
    out.report.header = {};
    write_report(desc, *work.known, out.report);
    out.sent = std::move(work.sent);
    out.ticket = std::move(work.ticket);
    session.counters().repeated_later(out.sent.ok());
    return true;
}

namespace {

// `queue`: the number of the public queue, or 0.
[[nodiscard, gnu::always_inline]] inline bool repeat_on(std::uint32_t queue, const Context& context,
                                                        const wye_dispatch_desc& desc,
                                                        const LoadedProgram& loaded,
                                                        DeviceSession& session,
                                                        Clock::time_point start, wye_report* report,
                                                        Result<void>& result) {
    Submitted work;
    if (!submit_again(context.handles(), desc, loaded, session, queue, true, work)) return false;

    // If nobody reads times, the caller has not set `start`.
    work.times.wanted = report != nullptr || context.reads_times();
    const bool timed = work.times.wanted && (desc.flags & WYE_DISPATCH_TIMED) != 0;
    work.times.submitted(start);
    if (!work.sent.ok()) [[unlikely]]
        result = session.noted(std::move(work.sent).error());
    else
        result = session.ended(work.ticket.queue->wait(work.ticket.value), work.ticket, timed,
                               work.times);
    if (!result.ok()) [[unlikely]]
        session.counters().repeat_failed(work.sent.ok());
    if (report != nullptr && result.ok())
        write_report(desc, *work.known, work.times, start, *report);
    if (session.trace() != nullptr) [[unlikely]]
        trace_repeat(desc, loaded, *session.trace(), work.times, start);
    if (context.logs()) [[unlikely]]
        log_repeat(context, desc, loaded, session, *work.known, work.times, start, result);
    return true;
}

[[nodiscard, gnu::cold, gnu::noinline]] bool repeat_named(
    const Context& context, const wye_dispatch_desc& desc, const LoadedProgram& loaded,
    DeviceSession& session, Clock::time_point start, wye_report* report, Result<void>& result) {
    NamedQueue queue;
    return (desc.queue == 0 || queue.try_find(context.handles(), desc.queue, session)) &&
           repeat_on(queue.number(), context, desc, loaded, session, start, report, result);
}

[[nodiscard, gnu::hot, gnu::noinline]] bool repeat_pipeline(const Context& context,
                                                            const wye_dispatch_desc& desc,
                                                            Clock::time_point start,
                                                            wye_report* report,
                                                            Result<void>& result) {
    const registry::Pin pin =
        context.handles().try_find(desc.pipeline, registry::HandleKind::pipeline);
    if (!pin) return false;
    Pipeline& pipeline = pin.as<Pipeline>();
    DeviceSession& session = pipeline.session();
    if (!session.is_ready()) return false;
    NamedQueue queue;
    if (desc.queue != 0 && !queue.try_find(context.handles(), desc.queue, session)) [[unlikely]]
        return false;
    if (!repeat_on(queue.number(), context, desc, pipeline.program(), session, start, report,
                   result))
        return false;
    pipeline.launched();
    if (report != nullptr && result.ok()) pipeline.routed().write(*report);
    return true;
}

// For a request without a device: uses that of its buffers; those of a kept request share one.
[[nodiscard, gnu::cold, gnu::noinline]] bool repeat_owned(
    const Context& context, const wye_dispatch_desc& desc, const LoadedProgram& loaded,
    Clock::time_point start, wye_report* report, Result<void>& result) {
    if (desc.device != 0) return false;
    const registry::Pin buffer =
        context.handles().try_find(desc.arguments[0].buffer, registry::HandleKind::buffer);
    if (!buffer) return false;
    const BufferObject& object = buffer.as<BufferObject>();
    if (!object.session.is_ready() ||
        !repeat_named(context, desc, loaded, object.session, start, report, result))
        return false;
    if (report != nullptr && result.ok()) Routed{object.device, WYE_ROUTED_OWNER, 0}.write(*report);
    return true;
}

}  // namespace

[[gnu::hot]] bool repeat(const Context& context, const wye_dispatch_desc& desc,
                         Clock::time_point start, wye_report* report, Result<void>& result) {
    if (!Repeats::may_have(desc)) return false;
    if (desc.pipeline != 0) return repeat_pipeline(context, desc, start, report, result);
    const registry::HandleTable& handles = context.handles();
    const registry::Pin program = handles.try_find(desc.program, registry::HandleKind::program);
    const registry::Pin device = handles.try_find(desc.device, registry::HandleKind::device);
    if (!program || !device)
        return program &&
               repeat_owned(context, desc, program.as<LoadedProgram>(), start, report, result);
    DeviceSession& session = device.as<DeviceSession>();
    if (!session.is_ready()) return false;
    const LoadedProgram& loaded = program.as<LoadedProgram>();
    if (desc.queue != 0) [[unlikely]]
        return repeat_named(context, desc, loaded, session, start, report, result);
    return repeat_on(0, context, desc, loaded, session, start, report, result);
}

}  // namespace wye::exec
