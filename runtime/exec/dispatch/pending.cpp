// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/pending.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <thread>

#include "exec/dispatch/decide.hpp"
#include "exec/dispatch/report.hpp"
#include "exec/dispatch/staged_arguments.hpp"
#include "exec/dispatch/submit.hpp"
#include "registry/process_state.hpp"

namespace wye::exec {
namespace {

using registry::HandleKind;

constexpr std::size_t kAlignment = 64;           // alignment of each input and output
constexpr std::chrono::seconds kCancelGrace{2};  // the time that cancelled work may take to stop

std::string copy_of(wye_string text) {
    return text.data == nullptr ? std::string() : std::string(text.data, text.size);
}

std::size_t padded(std::uint64_t size) {
    return static_cast<std::size_t>((size + kAlignment - 1) / kAlignment * kAlignment);
}

// Bytes of all copies that the dispatch will own.
std::uint64_t owned_bytes(const Flow& flow) {
    if (flow.has(WYE_DISPATCH_BORROW)) return 0;
    return (flow.rules.waits ? 0 : flow.bound.bytes_uploaded) + flow.bound.bytes_downloaded;
}

}  // namespace

Pending::Pending(const Context& context, const Flow& flow, Clock::time_point start)
    : context_(context),
      session_(flow.session),
      name_(flow.program.name()),
      begun_(start),
      borrows_(flow.has(WYE_DISPATCH_BORROW)),
      timed_(flow.has(WYE_DISPATCH_TIMED)) {
    if (!context.logs()) return;
    label_ = copy_of(flow.desc.label);
    profile_ = copy_of(flow.desc.profile);
}

Pending::Pending(const Context& context, const Target& target, Clock::time_point start)
    : context_(context),
      session_(target.session()),
      name_(target.program().name()),
      begun_(start),
      borrows_(false),
      timed_((target.request().flags & WYE_DISPATCH_TIMED) != 0) {
    if (!context.logs()) return;
    label_ = copy_of(target.desc().label);
    profile_ = copy_of(target.desc().profile);
}

// The form in which the fast path keeps a request: without the flags that concern only this call.
wye_dispatch_desc Pending::kept_form(const wye_dispatch_desc& desc) {
    wye_dispatch_desc out = desc;
    out.flags &= ~(WYE_DISPATCH_BORROW | WYE_DISPATCH_AT_ONCE);
    return out;
}

// Submits a kept request. False if it is not kept any more.
Result<bool> Pending::start_again(const registry::HandleTable& handles,
                                  const wye_dispatch_desc& request, const Target& target,
                                  std::uint32_t queue, Clock::time_point start) {
    const sdk::Lock lock(mutex_);
    WYE_ASSIGN(program_, Target::pin(handles, request));
    Repeated work;
    if (!submit_repeated(handles, request, target.program(), session_, queue, work)) return false;
    times_.submitted(start);
    if (!work.sent.ok()) return session_.noted(std::move(work.sent).error());
    report_ = work.report;
    report_.device = target.desc().device;
    ticket_ = std::move(work.ticket);
    submitted_.store(true, std::memory_order_release);
    if (Pipeline* const pipeline = target.pipeline()) pipeline->launched();
    return true;
}

Result<std::shared_ptr<Pending>> Pending::repeat(const Context& context, const Target& target,
                                                 std::uint32_t queue, Clock::time_point start) {
    DeviceSession& session = target.session();
    const wye_dispatch_desc request = kept_form(target.request());
    const std::shared_ptr<Pending> none;
    if (!Repeats::may_have(request) || !session.is_ready() || session.trace() != nullptr)
        return none;
    const auto out = std::allocate_shared<Pending>(RecyclingAllocator<Pending>(session.recycler()),
                                                   context, target, start);
    // If the limits on pending work are reached, the request takes all steps, since its own errors
    // take precedence over DEVICE_BUSY.
    const bool at_once = (target.request().flags & WYE_DISPATCH_AT_ONCE) != 0;
    if (!session.pending().add(out, 0, at_once).ok()) return none;
    const Result<bool> started = out->start_again(context.handles(), request, target, queue, start);
    if (started.ok() && *started) return out;
    session.pending().remove(*out);
    if (!started.ok()) return started.error();
    return none;
}

Result<std::shared_ptr<Pending>> Pending::submit(const Context& context,
                                                 const wye_dispatch_desc& desc,
                                                 const RequestRules& rules,
                                                 Clock::time_point start) {
    const registry::HandleTable& handles = context.handles();
    WYE_ASSIGN(const Target target, Target::find(handles, desc));
    WYE_ASSIGN(NamedQueue queue, NamedQueue::find(handles, desc.queue, target.session(), true));
    WYE_ASSIGN(auto repeated, repeat(context, target, queue.number(), start));
    if (repeated) return repeated;
    Flow flow(target, rules);
    flow.queue = std::move(queue);
    const Span span(flow.session.trace(), "submit dispatch",
                    {.subject = flow.program.name(), .label = label_of(desc)}, start);
    if (desc.timeout_ns != 0) flow.deadline = after(start, desc.timeout_ns);
    WYE_TRY(decide(context, flow));
    WYE_TRY(compile_kernels(flow));
    WYE_TRY(check_rounds(flow));
    WYE_TRY(flow.session.ready());
    const auto out = std::allocate_shared<Pending>(
        RecyclingAllocator<Pending>(flow.session.recycler()), context, flow, start);
    PendingList& list = flow.session.pending();
    WYE_TRY(list.add(out, owned_bytes(flow), flow.has(WYE_DISPATCH_AT_ONCE), flow.deadline));
    try {
        auto started = out->start(handles, flow);
        flow.counted = started.ok();
        if (started.ok()) {
            flow.count_launch();
            return out;
        }
        list.remove(*out);
        return std::move(started).error();
    } catch (...) {
        list.remove(*out);
        throw;
    }
}

Result<void> Pending::take_memory(const registry::HandleTable& handles, Flow& flow) {
    using Kind = BoundOperation::Kind;
    const Span span(session_.trace(), "copy inputs", {.bytes = flow.bound.bytes_uploaded});
    const bool lent_inputs = borrows_ || flow.rules.waits;
    RegisteredTransfers registered;
    if (lent_inputs && session_.registered().any()) {
        for (const BoundOperation& one : flow.bound.operations) {
            registered.add(session_, one.source, one.size);
            registered.add(session_, one.target, one.size);
        }
        registered.begin(handles);
    }
    const auto stays = [&](const BoundOperation& one) {
        return !registered.empty() &&
               registered.has(one.kind == Kind::Upload ? one.source : one.target, one.size);
    };
    std::size_t in = 0, out = 0;
    for (const BoundOperation& one : flow.bound.operations) {
        if (stays(one)) continue;
        if (one.kind == Kind::Upload) in += padded(one.size);
        if (one.kind == Kind::ReadBack) out += padded(one.size);
    }
    StagingBlock staged;
    HostBlock inputs;
    if (session_.stages(in)) staged = session_.stage(in);
    if (session_.stages(out)) staged_outputs_ = session_.stage(out);
    if (in != 0 && !staged && !lent_inputs) inputs = session_.host_memory().take(in);
    if (out != 0 && !staged_outputs_ && !borrows_) outputs_ = session_.host_memory().take(out);
    output_bytes_ = out;
    // Null if the caller lends the memory, as is `from`.
    std::byte* to = staged ? staged.data() : inputs.data();
    std::byte* from = staged_outputs_ ? staged_outputs_.data() : outputs_.data();
    std::vector<sdk::HostCopy> lent;
    for (BoundOperation& one : flow.bound.operations) {
        if (stays(one)) continue;
        if (one.kind == Kind::Upload && to != nullptr) {
            session_.copiers().copy(to, one.source, one.size);
            one.source = to;
            to += padded(one.size);
        } else if (one.kind == Kind::ReadBack && from != nullptr) {
            if (borrows_) lent.push_back({one.target, from, one.size});
            one.target = from;
            from += padded(one.size);
        }
    }
    if (staged) WYE_TRY(staged.written(0, in));
    {
        const sdk::Lock lock(mutex_);
        staged_inputs_ = std::move(staged);
        inputs_ = std::move(inputs);
        lent_ = std::move(lent);
        registered_ = std::move(registered);
    }
    // Includes outputs of no bytes, which need no operation.
    std::size_t offset = 0;
    for (const plan::BoundBuffer& bound : flow.launch.bound()) {
        if (!bound.returned) continue;
        const std::uint32_t binding = flow.program.ir().buffers[bound.buffer_index].binding;
        list_.push_back({binding, offset, static_cast<std::size_t>(bound.read_size)});
        offset += padded(bound.read_size);
    }
    return {};
}

void Pending::copy_staged_memory() {
    std::vector<wye_operation>& list = workspace_->operations;
    for (std::size_t i = 0; staged_inputs_ && i < operations_.launch; ++i)
        copy_staged(list[i], staged_inputs_);
    for (std::size_t i = operations_.read_back; staged_outputs_ && i < list.size(); ++i)
        copy_staged(list[i], staged_outputs_);
}

Pending::Pending(const Context& context, Graph& graph, const wye_graph_run_desc& run,
                 Clock::time_point start)
    : context_(context),
      session_(graph.session()),
      name_(graph.label()),
      begun_(start),
      borrows_(false),
      timed_((run.flags & WYE_DISPATCH_TIMED) != 0) {}

Result<std::shared_ptr<Pending>> Pending::submit(const Context& context, Graph& graph,
                                                 const wye_graph_run_desc& run,
                                                 Clock::time_point start) {
    const auto out = std::allocate_shared<Pending>(
        RecyclingAllocator<Pending>(graph.session().recycler()), context, graph, run, start);
    PendingList& list = out->session_.pending();
    WYE_TRY(list.add(out, 0, (run.flags & WYE_DISPATCH_AT_ONCE) != 0));
    const sdk::Lock lock(out->mutex_);
    auto started =
        graph.submit(context.handles(), run, start, out->times_, out->execution_, out->report_);
    if (!started.ok()) {
        list.remove(*out);
        return std::move(started).error();
    }
    out->graph_ = graph.shared_from_this();
    out->ticket_ = std::move(out->execution_.ticket);
    out->submitted_.store(true, std::memory_order_release);
    return out;
}

Result<void> Pending::start(const registry::HandleTable& handles, Flow& flow) {
    const Clock::time_point enqueue = now();
    WYE_TRY(take_memory(handles, flow));
    const sdk::Lock lock(mutex_);
    workspace_ = session_.workspace();
    WYE_ASSIGN(uses_, flow.residents.begin_use(handles));
    WYE_ASSIGN(operations_, write_operations(flow.program.plan(), flow.launch, flow.bound,
                                             flow.kernels, flow.residents, session_, *workspace_));
    flow.residents.uses(flow.launch, flow.uses);
    for (const Kernel& kernel : flow.kernels.kernels()) programs_.push_back(kernel.compiled);
    copy_registered(operations_, *workspace_, registered_);
    WYE_TRY(registered_.written());
    copy_staged_memory();
    // Lent outputs are not written after a trap.
    reads_later_ = operations_.traps && reads_to_caller();
    report_ = make_report(flow, begun_);
    const auto first =
        operations_.all.first(reads_later_ ? operations_.read_back : operations_.all.size());
    if (first.empty()) {
        end({});
        return {};
    }
    std::optional<registry::ProcessStateGuard> guard;  // for the first launch
    if (!flow.kernels.warm()) guard.emplace(!session_.device()->built_in());
    if (reads_later_) queue_ = flow.queue.share();
    WYE_ASSIGN(ticket_, session_.submit(first, flow.uses, flow.options(), enqueue, times_));
    submitted_.store(true, std::memory_order_release);
    flow.kernels.set_warm();
    if (flow.kernels.is_whole()) {
        QueuePool& queues = session_.queues();
        const sdk::Lock queues_lock(queues.mutex);
        queues.repeats.keep(kept_form(flow.request), flow.program.plan(), flow.launch, flow.kernels,
                            operations_, flow.uses, flow.bound.bytes_filled, queues);
    }
    return {};
}

Result<registry::Handle> Pending::add_to(registry::HandleTable& handles) {
    auto handle = handles.add(HandleKind::pending, shared(), session_.owner(), name_);
    if (!handle.ok() && borrows_) wait_for_end();
    return handle;
}

void Pending::wait_for_end() noexcept {
    for (;;) {
        try {
            wait({});
            return;
        } catch (const std::exception&) {  // no memory for an error's text
            std::this_thread::yield();
        }
    }
}

bool Pending::wait(std::optional<Clock::time_point> deadline) {
    for (;;) {
        if (has_ended()) return true;
        // A poll does not wait for the submit in progress, which holds the mutex.
        if (deadline == Clock::time_point::min() && !submitted_.load(std::memory_order_acquire))
            return false;
        Ticket ticket;
        {
            const sdk::Lock lock(mutex_);
            ticket = ticket_;
        }
        if (!ticket.queue) return has_ended();  // not submitted yet
        std::uint64_t limit = UINT64_MAX;
        if (deadline) {
            const Clock::time_point start = now();
            limit = start < *deadline ? nanoseconds(*deadline - start) : 0;
        }
        Result<void> waited;
        if (limit == 0) {
            const auto reached = ticket.queue->reached(ticket.value);
            session_.counters().polled(!reached.ok() || *reached);
            if (reached.ok() && !*reached) return false;
            if (!reached.ok()) waited = reached.error();
        } else {
            waited = session_.wait(ticket, limit);
            if (!waited.ok() && waited.error().code == Code::TIMEOUT) return has_ended();
        }
        const sdk::Lock lock(mutex_);
        if (!has_ended() && ticket_ == ticket) advance(std::move(waited));
    }
}

bool Pending::wait_result(std::optional<Clock::time_point> deadline) {
    if (is_given_up()) return true;
    // Some drivers poll when they wait with a time limit, which is slower.
    if (!deadline) return wait(deadline);
    // A wait in the driver cannot be interrupted, so it waits in short slices and checks for a
    // cancel by another thread between them.
    constexpr std::chrono::milliseconds kSlice{2};
    for (;;) {
        const Clock::time_point end = now() + kSlice;
        const bool last = *deadline <= end;
        if (wait(last ? *deadline : end) || is_given_up()) return true;
        if (last) return false;
    }
}

Result<void> Pending::cancel() {
    Ticket ticket;
    {
        const sdk::Lock lock(mutex_);
        ticket = ticket_;
    }
    if (has_ended() || !ticket.queue) return {};
    auto asked = ticket.queue->cancel(ticket.value, ticket.value);
    if (asked.ok() ||
        (asked.error().code != Code::UNIMPLEMENTED && asked.error().code != Code::UNSUPPORTED))
        return asked;
    const sdk::Lock lock(mutex_);
    if (!has_ended()) given_up_.store(true, std::memory_order_release);
    return {};
}

Result<void> Pending::time_out(std::uint64_t timeout_ns) {
    Ticket ticket;
    {
        const sdk::Lock lock(mutex_);
        ticket = ticket_;
    }
    WYE_TRY(cancel());
    if (!is_given_up()) wait_result(now() + kCancelGrace);
    const bool runs = !has_ended();
    if (!runs && status() != Code::CANCELLED) return {};  // it ended with its own result
    // The Pending keeps its own objects alive, so the abandoned entry has none.
    if (runs && ticket.queue) session_.abandon({ticket, "a " + what(), {}, {}, {}});
    return timed_out(name_, session_.info().selector, timeout_ns, runs, false);
}

Error Pending::cancelled() const {
    return {Code::CANCELLED,
            fmt::format("the {} on {} was cancelled; the device cannot stop it, and uses its "
                        "buffers until it ends",
                        what(), session_.info().selector),
            "Fix: wait for the device (wye_device_flush) before its buffers are used", name_};
}

void Pending::advance(Result<void> waited) noexcept {
    try {
        Result<void> result = next(std::move(waited));
        if (!result.ok() || !ticket_.queue) end(std::move(result));
    } catch (const std::exception&) {  // cannot happen: short texts need no allocation
        end(Error(Code::OUT_OF_MEMORY, "no host memory", "Fix: free memory", ""));
    }
}

// Submits the next operations. Leaves an empty ticket if there are none.
Result<void> Pending::next(Result<void> waited) {
    const Ticket ticket = std::exchange(ticket_, {});
    WYE_TRY(session_.ended(std::move(waited), ticket, timed_, times_));
    if (given_up_.load(std::memory_order_relaxed)) return cancelled();
    if (graph_) return graph_->check_traps(execution_, report_);
    if (operations_.traps && (reads_later_ || !reads_to_caller())) {
        Trap trap;
        auto checked = check_trap(name_, session_.info(), workspace_->trap_words, trap);
        report_.trap_code = trap.code;
        report_.trap_count = trap.count;
        WYE_TRY(std::move(checked));
    }
    if (!std::exchange(reads_later_, false)) return deliver();
    const SubmitOptions options(timed_, queue_ ? queue_->number() : 0);
    WYE_ASSIGN(ticket_, session_.submit(operations_.read_backs(), {}, options, now(), times_));
    return {};
}

Result<void> Pending::deliver() {
    WYE_TRY(registered_.arrived());
    if (!staged_outputs_) return {};
    WYE_TRY(staged_outputs_.arrived(0, output_bytes_));
    for (const sdk::HostCopy& copy : lent_)
        session_.copiers().copy(copy.target, copy.source, copy.size);
    return {};
}

void Pending::end(Result<void> outcome) noexcept {
    report_times(times_, begun_, timed_, report_);
    if (outcome.ok() && given_up_.load(std::memory_order_relaxed)) outcome = cancelled();
    if (!outcome.ok()) report_.bytes_downloaded = 0;
    if (transfer_ != 0)
        outcome = count_transfer(session_, transfer_, transferred_, std::move(outcome));
    else
        session_.counters().dispatched(outcome.ok(), report_);
    if (!outcome.ok()) error_ = std::move(outcome).error();
    if (context_.logs() && transfer_ == 0) log();
    ticket_ = {};
    uses_.release();
    execution_.release();
    program_ = {};
    graph_.reset();
    queue_.reset();
    workspace_.release();
    programs_.clear();
    inputs_.release();
    staged_inputs_.release();
    registered_.release();
    if (error_ || borrows_) staged_outputs_.release();
    ended_.store(true, std::memory_order_release);
    session_.pending().remove(*this);
}

void Pending::log() const {
    try {
        wye_dispatch_desc desc{};
        desc.label = {label_.data(), label_.size()};
        desc.profile = {profile_.data(), profile_.size()};
        log_dispatch(context_, desc, name_, session_.info().selector, outcome(), report_);
    } catch (const std::exception&) {  // no memory: the line is lost
    }
}

Result<std::span<const std::byte>> Pending::output(std::uint32_t binding) const {
    WYE_TRY(outcome());
    const auto found = std::ranges::find(list_, binding, &Output::binding);
    if (found == list_.end())
        return Error(
            Code::NOT_FOUND, fmt::format("the {} owns no output with binding {}", what(), binding),
            "Fix: name an output that was a host argument without storage, or binding 0 of a "
            "download",
            name_);
    const std::byte* bytes = staged_outputs_ ? staged_outputs_.data() : outputs_.data();
    return std::span<const std::byte>(bytes + found->offset, found->size);
}

}  // namespace wye::exec
