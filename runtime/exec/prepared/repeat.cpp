// SPDX-License-Identifier: Apache-2.0
#include "exec/prepared/repeat.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>

#include "exec/device/buffer.hpp"
#include "exec/dispatch/operations.hpp"
#include "exec/dispatch/pipeline.hpp"
#include "exec/dispatch/report.hpp"
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

bool keepable(const Flow& flow, const Operations& operations) {
    const wye_dispatch_desc& desc = flow.request;
    if (!flow.kernels.is_whole() || !Repeat::may_have(desc) || operations.traps ||
        operations.moves || flow.launch.empty)
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

// Where a request is kept.
[[gnu::hot]] std::unique_ptr<KeptWork>& place(QueuePool& queues, const wye_dispatch_desc& desc)
    WYE_REQUIRES(queues.mutex) {
    std::uint64_t sum = desc.program + desc.pipeline;  // handles differ in their low bits
    for (std::uint64_t i = 0; i < desc.argument_count; ++i)
        sum = sum * 5 + desc.arguments[i].buffer;
    return queues.kept[static_cast<std::size_t>(sum % QueuePool::kMostKept)];
}

}  // namespace

void Repeat::make_command(const DeviceSession& session, const LoadedProgram& program) {
    asked = true;
    std::vector<wye_operation> described = work.operations;
    for (wye_operation& operation : described) {
        if (operation.kind != WYE_OPERATION_DISPATCH) continue;
        operation.u.dispatch.late_size = params_size;
        operation.u.dispatch.again = 0;  // commands have no hints
    }
    // After an error the operations are submitted, which has the same effect.
    (void)work.make_commands(session.device(), described, block.data(), params_size, {});
    work.name_in(session.trace(), program.name());
}

[[gnu::hot]] std::span<const wye_operation> Repeat::to_submit(DeviceSession& session,
                                                              const LoadedProgram& program) {
    if (!asked) [[unlikely]]
        make_command(session, program);
    return work.may_run(session.queues()) ? work.execute
                                          : std::span<const wye_operation>(work.operations);
}

[[gnu::hot]] Repeat* Repeat::find(QueuePool& queues, const wye_dispatch_desc& desc) {
    auto* const kept = static_cast<Repeat*>(place(queues, desc).get());
    if (kept == nullptr || !kept->request.is_same(desc) ||
        !same(kept->arguments.data(), desc.arguments, desc.argument_count))
        return nullptr;
    if (kept->work.sending || same(kept->params.data(), desc.params, desc.param_count)) return kept;
    const std::span<const std::uint64_t> params(desc.params, desc.param_count);
    if (!kept->rules.allow(params)) return nullptr;
    if (!kept->rules.pack(params, kept->block.data()).ok()) {
        // It must never be found again, since its block is half-written.
        kept->request = {};
        return nullptr;
    }
    std::ranges::copy(params, kept->params.data());
    return kept;
}

void Repeat::keep(const Flow& flow, const Operations& operations) {
    if (!keepable(flow, operations)) return;
    const wye_dispatch_desc& desc = flow.request;
    const plan::Launch& launch = flow.launch;
    QueuePool& queues = flow.session().queues();
    const sdk::Lock lock(queues.mutex);
    std::unique_ptr<KeptWork>& kept = place(queues, desc);
    if (kept) {
        const Executable& before = static_cast<const Repeat&>(*kept).work;
        if (before.sending ||
            (!before.commands.empty() && queues.is_pending(before.last_queue, before.last_value)))
            return;
    }
    try {
        if (!kept) kept = std::make_unique<Repeat>();
        auto& out = static_cast<Repeat&>(*kept);
        out.work.operations.assign(operations.all.begin(), operations.all.end());
        out.rules = ParamRules(flow.program.plan(), launch, flow.kernels);
    } catch (const std::bad_alloc&) {  // the request ran, but is not kept
        kept.reset();
        return;
    }
    auto& out = static_cast<Repeat&>(*kept);
    out.work.drop_commands();
    out.asked = false;
    out.request = KeptRequest(kept_form(desc));
    out.frees = UINT64_MAX;  // unknown
    std::copy_n(desc.arguments, desc.argument_count, out.arguments.data());
    std::copy_n(desc.params, desc.param_count, out.params.data());
    std::ranges::transform(std::span(desc.arguments, desc.argument_count), out.buffers.begin(),
                           &wye_argument::buffer);
    std::ranges::copy(flow.uses, out.uses.begin());
    out.report = launch_report(flow);
    out.params_size = launch.params_size;
    std::memcpy(out.block.data(), launch.params, launch.params_size);
    for (wye_operation& operation : out.work.operations) {
        if (operation.kind != WYE_OPERATION_DISPATCH) continue;
        wye_dispatch_op& dispatch = operation.u.dispatch;
        std::copy_n(dispatch.bindings, launch.buffer_count, out.bindings.data());
        dispatch.bindings = out.bindings.data();
        dispatch.params = out.block.data();
    }
}

namespace {

[[gnu::cold, gnu::noinline]] void trace_repeat(const wye_dispatch_desc& desc,
                                               const LoadedProgram& program, Trace& trace,
                                               const RunTimes& times, Clock::time_point start) {
    const std::uint64_t begin_ns = trace_ns(start), queued_ns = trace_ns(times.queued);
    const Span all(&trace, "dispatch", {.subject = program.name(), .label = label_of(desc)}, start);
    trace.span("repeat", {}, {begin_ns, queued_ns});
    if (times.ended) trace.span("wait", {}, {queued_ns, trace_ns(*times.ended)});
}

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
    const registry::HandleTable& handles, const wye_dispatch_desc& desc, DeviceSession& session,
    QueuePool& queues, std::uint32_t queue, Repeated& out, QueuePool::Sending& sending)
    WYE_REQUIRES(queues.mutex) {
    // No work was in the line when the call began.
    const auto options = SubmitOptions((desc.flags & WYE_DISPATCH_TIMED) != 0, queue)
                             .waiting(out.at_once, {})
                             .in_place();
    for (;;) {
        Repeat* const repeat = Repeat::find(queues, desc);
        if (repeat == nullptr) return nullptr;
        if (repeat->work.sending) [[unlikely]] {
            queues.await_sends();
            continue;
        }
        if (!are_live(handles, *repeat, queues)) return nullptr;
        const auto begun =
            queues.begin(session.device(), repeat->used(), options, sending, &repeat->work.sending);
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
                                                           std::uint32_t queue, Repeated& out) {
    QueuePool& queues = session.queues();
    QueuePool::Sending sending;
    Repeat* repeat = nullptr;
    {
        const sdk::Lock lock(queues.mutex);
        repeat = begin_again(handles, desc, session, queues, queue, out, sending);
        if (repeat == nullptr) return false;
        if (out.report != nullptr) {
            *out.report = repeat->report;
            out.report->device = desc.device;
        }
        if (!out.sent.ok()) [[unlikely]] {
            if (!out.waits) session.counters().failed();
            return true;
        }
    }
    const std::span<const wye_operation> list = repeat->to_submit(session, program);
    out.sent = queues.send(sending, list);
    const sdk::Lock lock(queues.mutex);
    queues.end(sending, out.sent.ok());
    if (!out.waits) session.counters().repeated_later(out.sent.ok());
    if (!out.sent.ok()) return true;
    out.ticket = std::move(sending.ticket);
    if (list.data() == repeat->work.execute.data())
        repeat->work.sent(out.ticket.index, out.ticket.value);
    if (out.waits) session.counters().repeated(repeat->report.bytes_filled);
    return true;
}

}  // namespace

bool submit_repeated(const registry::HandleTable& handles, const wye_dispatch_desc& desc,
                     const LoadedProgram& program, DeviceSession& session, std::uint32_t queue,
                     Repeated& out) {
    return submit_again(handles, desc, program, session, queue, out);
}

namespace {

// `queue`: the number of the public queue, or 0.
[[nodiscard, gnu::always_inline]] inline bool repeat_on(std::uint32_t queue, const Context& context,
                                                        const wye_dispatch_desc& desc,
                                                        const LoadedProgram& loaded,
                                                        DeviceSession& session,
                                                        Clock::time_point start, wye_report* report,
                                                        Result<void>& result) {
    wye_report known;
    Repeated work;
    work.waits = true;
    if (report != nullptr || context.logs()) work.report = &known;
    if (!submit_again(context.handles(), desc, loaded, session, queue, work)) return false;

    RunTimes times;
    // If nobody reads times, the caller has not set `start`.
    times.wanted = report != nullptr || context.reads_times();
    const bool timed = times.wanted && (desc.flags & WYE_DISPATCH_TIMED) != 0;
    times.submitted(start);
    if (!work.sent.ok()) [[unlikely]]
        result = session.noted(std::move(work.sent).error());
    else
        result =
            session.ended(work.ticket.queue->wait(work.ticket.value), work.ticket, timed, times);
    if (!result.ok()) [[unlikely]]
        session.counters().repeat_failed(work.sent.ok());
    if (work.report != nullptr) report_times(times, start, timed, known);
    if (session.trace() != nullptr) [[unlikely]]
        trace_repeat(desc, loaded, *session.trace(), times, start);
    if (context.logs()) [[unlikely]]
        log_dispatch(context, desc, loaded.name(), session.info().selector, result, known);
    if (report != nullptr && result.ok()) {
        known.header = report->header;
        *report = known;
    }
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
    if (!Repeat::may_have(desc)) return false;
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
