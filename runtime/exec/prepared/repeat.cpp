// SPDX-License-Identifier: Apache-2.0
#include "exec/prepared/repeat.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <type_traits>

#include "exec/device/buffer.hpp"
#include "exec/dispatch/dispatch.hpp"
#include "exec/dispatch/operations.hpp"
#include "exec/dispatch/pipeline.hpp"
#include "exec/prepared/pending_launch.hpp"

namespace wye::exec {
namespace {

using registry::HandleKind;

struct Repeat final : KeptWork {
    static constexpr std::size_t kArguments = 8;
    static constexpr std::size_t kParams = 8;
    static constexpr std::size_t kOperations = 256;

    explicit Repeat(DeviceSession& session)
        : work(PreparedRef::adopt(new PreparedWork(session, {}, {}, PreparedWork::Use::Kept))) {}

    KeptRequest request;
    std::array<wye_argument, kArguments> arguments;
    PreparedRef work;
};

// A cheap first check: requests with host bytes or with a grid buffer are never kept.
bool may_be_kept(const wye_dispatch_desc& desc) {
    return KeptRequest::may_be_same(desc) && desc.argument_count != 0 &&
           desc.argument_count <= Repeat::kArguments && desc.param_count <= Repeat::kParams &&
           desc.arguments[0].kind == WYE_ARGUMENT_RESIDENT;
}

bool keepable(const Flow& flow, const Operations& operations) {
    const wye_dispatch_desc& desc = flow.request;
    if (!flow.kernels.is_whole() || !may_be_kept(desc) || operations.traps || operations.moves ||
        flow.launch.empty)
        return false;
    if (operations.launches().size() != operations.all.size() ||
        operations.all.size() > Repeat::kOperations)
        return false;
    // A read-back of 0 bytes is no operation, so the arguments are checked, too.
    return std::all_of(
        desc.arguments, desc.arguments + desc.argument_count, [](const wye_argument& a) {
            return a.kind == WYE_ARGUMENT_RESIDENT && a.output == nullptr && a.output_size == 0;
        });
}

// The element of QueuePool::kept in which a request is or would be kept.
[[gnu::hot]] std::unique_ptr<KeptWork>& place(QueuePool& queues, const wye_dispatch_desc& desc)
    WYE_REQUIRES(queues.mutex) {
    std::uint64_t sum = desc.program + desc.pipeline;  // handles differ in their low bits
    for (std::uint64_t i = 0; i < desc.argument_count; ++i)
        sum = sum * 5 + desc.arguments[i].buffer;
    return queues.kept[static_cast<std::size_t>(sum % QueuePool::kMostKept)];
}

// Compares element by element. If the size is constant, the comparison is inlined.
bool are_same(const wye_argument* a, const wye_argument* b, std::uint64_t count) {
    static_assert(std::has_unique_object_representations_v<wye_argument>);
    for (std::uint64_t i = 0; i < count; ++i)
        if (std::memcmp(a + i, b + i, sizeof *a) != 0) return false;
    return true;
}

// The work of the kept request that equals `desc`; null: there is none. The parameters may differ
// if the work allows that.
[[gnu::hot]] PreparedWork* find(QueuePool& queues, const wye_dispatch_desc& desc)
    WYE_REQUIRES(queues.mutex) {
    const auto* const kept = static_cast<Repeat*>(place(queues, desc).get());
    if (kept == nullptr || !kept->request.is_same(desc) ||
        !are_same(kept->arguments.data(), desc.arguments, desc.argument_count) ||
        (desc.param_count != 0 && !kept->work->allows(desc.params)))
        return nullptr;
    return kept->work.get();
}

// Begins a repeated request on the fast path. `number`: the number of the public queue that the
// request names; 0: none.
struct Quick {
    const wye_dispatch_desc& desc;
    std::uint32_t number;

    [[nodiscard]] PreparedWork::Quick begin(QueuePool& queues) const WYE_REQUIRES(queues.mutex) {
        PreparedWork* const work = find(queues, desc);
        if (work == nullptr) return {};
        return work->begin_quick(queues, desc.params, desc.param_count, number);
    }
};

// Finds a repeated request for the ordinary path, which needs a reference to the work.
PreparedRef find_for_long(QueuePool& queues, const wye_dispatch_desc& desc) {
    const sdk::Lock lock(queues.mutex);
    PreparedWork* const found = find(queues, desc);
    if (found != nullptr) found->refer_held();
    return PreparedRef::adopt(found);
}

// An execution with the parameters of a request.
wye_graph_run_desc execution_of(const wye_dispatch_desc& desc) {
    wye_graph_run_desc out{};
    out.params = desc.params;
    out.param_count = desc.param_count;
    out.flags = desc.flags & (WYE_DISPATCH_TIMED | WYE_DISPATCH_AT_ONCE);
    out.queue = desc.queue;
    return out;
}

// Called after a request was submitted: keeps its operations if possible, in place of an older
// request.
void keep(const Flow& flow, const Operations& operations) {
    if (!keepable(flow, operations)) return;
    const wye_dispatch_desc& desc = flow.request;
    QueuePool& queues = flow.session().queues();
    std::unique_ptr<KeptWork> replaced;  // freed after the mutex is unlocked
    const sdk::Lock lock(queues.mutex);
    std::unique_ptr<KeptWork>& kept = place(queues, desc);
    if (kept) {
        const PreparedWork& before = *static_cast<const Repeat&>(*kept).work;
        if (before.is_busy(queues)) return;
        if (before.is_shared()) replaced = std::move(kept);
    }
    try {
        if (!kept) kept = std::make_unique<Repeat>(flow.session());
        auto& out = static_cast<Repeat&>(*kept);
        out.request = {};  // so that this entry is not found if memory runs out below
        out.work->keep(flow, operations);
        out.request = KeptRequest(kept_form(desc));
        std::copy_n(desc.arguments, desc.argument_count, out.arguments.data());
    } catch (const std::bad_alloc&) {  // the request ran, but is not kept
    }
}

// The objects that a request names, kept alive while the request is repeated.
struct Named {
    registry::Pin program;  // the program or the pipeline
    registry::Pin device;   // the device, or the buffer that decides it; empty with a pipeline
    NamedQueue queue;
    DeviceSession* session = nullptr;
    Pipeline* pipeline = nullptr;

    // False: an object is not live, and the request must take all steps.
    [[nodiscard, gnu::always_inline]] bool find(const registry::HandleTable& handles,
                                                const wye_dispatch_desc& desc) {
        if (desc.pipeline != 0) {
            program = handles.try_find(desc.pipeline, HandleKind::pipeline);
            if (!program) return false;
            pipeline = &program.as<Pipeline>();
            session = &pipeline->session();
        } else {
            program = handles.try_find(desc.program, HandleKind::program);
            if (!program) return false;
            device = handles.try_find(desc.device, HandleKind::device);
            if (device) [[likely]]
                session = &device.as<DeviceSession>();
            else if (!find_owner(handles, desc))
                return false;
        }
        return desc.queue == 0 || queue.try_find(handles, desc.queue, *session);
    }
    // For a request without a device: uses the device of the buffers. All buffers of a kept request
    // are on one device.
    [[nodiscard, gnu::cold, gnu::noinline]] bool find_owner(const registry::HandleTable& handles,
                                                            const wye_dispatch_desc& desc) {
        if (desc.device != 0) return false;
        device = handles.try_find(desc.arguments[0].buffer, HandleKind::buffer);
        if (!device) return false;
        session = &device.as<BufferObject>().session;
        return true;
    }
};

// The ordinary path of a repeated request.
[[nodiscard, gnu::noinline]] Result<bool> run_again(const Context& context,
                                                    const wye_dispatch_desc& desc,
                                                    DeviceSession& session, const Instant& start,
                                                    wye_report* report) {
    if (!session.is_ready()) return false;
    const PreparedRef work = find_for_long(session.queues(), desc);
    if (!work) return false;
    // If nobody reads times, the caller has not read `start`.
    const bool timed = report != nullptr || context.reads_times();
    const Clock::time_point begun = timed ? start.time() : Clock::time_point();
    const Span span(session.trace(), "dispatch",
                    {.subject = work->label(), .label = label_of(desc)}, begun);
    return work->run(context, execution_of(desc), &desc, begun, report);
}

// Runs a repeated request and waits; only its handles are checked again. False: nothing was
// submitted, and the request must take all steps, which also report any error.
[[nodiscard, gnu::always_inline]] inline Result<bool> repeat(const Context& context,
                                                             const wye_dispatch_desc& desc,
                                                             const Instant& start,
                                                             wye_report* report) {
    if (!may_be_kept(desc)) return false;
    Named on;
    if (!on.find(context.handles(), desc)) return false;
    Result<void> failed;
    const bool quick = !context.reads_times() && (desc.flags & WYE_DISPATCH_TIMED) == 0;
    bool submitted =
        quick && PreparedWork::try_run<PreparedWork::Use::Kept>(
                     *on.session, Quick{desc, on.queue.number()}, start, report, failed);
    if (!submitted && failed.ok()) [[unlikely]] {
        auto ran = run_again(context, desc, *on.session, start, report);
        if (ran.ok() && !*ran) return false;
        if (!ran.ok()) failed = std::move(ran).error();
    }
    if (on.pipeline != nullptr) on.pipeline->launched();
    if (!failed.ok()) [[unlikely]]
        return std::move(failed).error();
    return true;
}

// Submits a repeated request. Null: the request must take all steps.
Result<WorkPtr<Pending>> submit_again(const Context& context, const Target& target,
                                      std::uint32_t queue, Clock::time_point start) {
    const wye_dispatch_desc request = kept_form(target.request());
    DeviceSession& session = target.session();
    if (!may_be_kept(request) || !session.is_ready() || session.trace() != nullptr)
        return WorkPtr<Pending>();
    registry::Pin pin = target.pin_again(context.handles());
    if (!pin) return WorkPtr<Pending>();
    Result<void> failed;
    WorkPtr<Pending> out;
    if (!context.reads_times() && (request.flags & WYE_DISPATCH_TIMED) == 0)
        out = WorkPtr<Pending>::adopt(PendingLaunch::try_submit<PreparedWork::Use::Kept>(
            session, Quick{request, queue}, pin, Instant(start), failed));
    WYE_TRY(std::move(failed));
    if (!out) {
        const PreparedRef work = find_for_long(session.queues(), request);
        if (!work) return WorkPtr<Pending>();
        WYE_ASSIGN(out, PendingLaunch::submit(context, work, pin, execution_of(target.request()),
                                              start, false, &target.desc()));
    }
    if (out && target.pipeline() != nullptr) target.pipeline()->launched();
    return out;
}

}  // namespace

[[gnu::hot]] Result<void> dispatch(Context& context, const wye_dispatch_desc& desc,
                                   wye_report* report) {
    Instant start;
    const bool timed = report != nullptr || context.reads_times();
    if (timed) start.read();
    WYE_ASSIGN(const bool repeated, repeat(context, desc, start, report));
    if (repeated) [[likely]]
        return {};
    if (!timed) start.read();
    return dispatch_in_full(context, desc, start.time(), keep, report);
}

Result<WorkPtr<Pending>> submit_dispatch(Context& context, Target& target,
                                         const RequestRules& rules, Clock::time_point start) {
    NamedQueue queue;
    if (target.has_device()) [[likely]] {
        WYE_ASSIGN(queue, NamedQueue::find(context.handles(), target.request().queue,
                                           target.session(), true));
        WYE_ASSIGN(auto repeated, submit_again(context, target, queue.number(), start));
        if (repeated) return repeated;
    }
    return Pending::submit(context, target, rules, start, std::move(queue), keep);
}

}  // namespace wye::exec
