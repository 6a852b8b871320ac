// SPDX-License-Identifier: Apache-2.0
#include "exec/prepared/pending_launch.hpp"

#include <exception>
#include <utility>

#include "exec/dispatch/report.hpp"
#include "wye/sdk/errors.hpp"

namespace wye::exec {

WorkPtr<PendingLaunch> PendingLaunch::take(const Context& context, DeviceSession& session) {
    PendingList& list = session.pending();
    {
        const sdk::Lock lock(session.queues().mutex);
        list.assert_held();
        if (PendingWork* const idle = list.take_idle())
            return WorkPtr<PendingLaunch>(static_cast<PendingLaunch*>(idle));
    }
    return WorkPtr<PendingLaunch>(new PendingLaunch(context, session));
}

void PendingLaunch::unreferenced() noexcept {
    // Possibly the last references, released after this object and the lock.
    const registry::Pin pin(std::move(pin_));
    const std::shared_ptr<Graph> shared(std::move(shared_));
    std::shared_ptr<const registry::NativeQueue> queue;
    texts_.reset();
    error_.reset();
    ended_.store(false, std::memory_order_relaxed);
    special_.store(0, std::memory_order_relaxed);
    unread_.store(false, std::memory_order_relaxed);
    {
        QueuePool& queues = session_.queues();
        const sdk::Lock lock(queues.mutex);
        session_.pending().assert_held();
        if (ticket_.queue.get() != queues.native(0).get()) [[unlikely]]
            queue.swap(ticket_.queue);
        if (session_.pending().keep_idle(*this)) [[likely]]
            return;
    }
    delete this;
}

registry::Pin PendingLaunch::fail_plain(Graph::Plain work) noexcept {
    registry::Pin graph = std::move(pin_);
    QueuePool& queues = session_.queues();
    const sdk::Lock lock(queues.mutex);
    session_.pending().assert_held();
    Graph::settle(*work.steps);
    Graph::fail_plain(queues, work);
    session_.pending().keep_back(*this);
    return graph;
}

Result<void> PendingLaunch::start(const registry::HandleTable& handles, Graph& graph,
                                  const wye_graph_run_desc& run, Clock::time_point start) {
    const sdk::Lock lock(mutex_);
    RunTimes times;
    // An object that is reused must not have the trap words of a submit that failed.
    struct Releasing {
        ~Releasing() {
            if (!kept) execution.release();
        }
        Execution& execution;
        bool kept = false;
    } releasing{execution_};
    steps_ = nullptr;
    WYE_TRY(graph.submit(handles, run, start, {execution_, ticket_, times, report_, &steps_}));
    releasing.kept = true;
    queued_ = Instant(times.queued);
    return {};
}

Result<WorkPtr<Pending>> PendingLaunch::submit(const Context& context, Graph& graph,
                                               registry::Pin&& pin, std::shared_ptr<Graph>&& shared,
                                               const wye_graph_run_desc& run,
                                               Clock::time_point start, bool watched) {
    DeviceSession& session = graph.session();
    const bool at_once = (run.flags & WYE_DISPATCH_AT_ONCE) != 0;
    const bool limited = run.timeout_ns != 0;
    std::optional<Clock::time_point> deadline;
    if (limited) deadline = after(start, run.timeout_ns);
    WYE_ASSIGN(PendingRoom room, session.pending().room(0, at_once, deadline));
    if (session.has_line() && (at_once || limited))
        WYE_TRY(
            graph.await_place(context.handles(), run, at_once ? Clock::time_point() : *deadline));
    WorkPtr<PendingLaunch> out = take(context, session);
    out->graph_ = &graph;
    out->timed_ = (run.flags & WYE_DISPATCH_TIMED) != 0;
    out->begun_ = Instant(start);
    if (limited) WYE_TRY(out->set_limit(run.timeout_ns, *deadline, watched));
    WYE_TRY(out->start(context.handles(), graph, run, start));
    // The pin keeps the device. After a failure above `out` ends before `room`, which needs it, so
    // the caller still has it then.
    out->pin_ = std::move(pin);
    out->shared_ = std::move(shared);
    room.take(out);
    if (limited) out->set_alarm();
    return WorkPtr<Pending>(std::move(out));
}

Result<bool> PendingLaunch::start_again(const registry::HandleTable& handles,
                                        const wye_dispatch_desc& request, Target& target,
                                        std::uint32_t queue, Clock::time_point start) {
    const sdk::Lock lock(mutex_);
    Repeated work;
    work.report = &report_;
    work.at_once = (target.request().flags & WYE_DISPATCH_AT_ONCE) != 0;
    registry::Pin pipeline = target.pin_pipeline(handles);
    if (!pipeline && target.pipeline() != nullptr) return false;
    if (!submit_repeated(handles, request, target.program(), session_, queue, work)) return false;
    begun_ = Instant(start);
    queued_.read();
    if (!work.sent.ok()) return session_.noted(std::move(work.sent).error());
    target.routed().write(report_);
    ticket_ = std::move(work.ticket);
    if (pipeline) pipeline.as<Pipeline>().launched();
    pin_ = pipeline ? std::move(pipeline) : target.take_pin();
    return true;
}

Result<WorkPtr<Pending>> PendingLaunch::repeat(const Context& context, Target& target,
                                               std::uint32_t queue, Clock::time_point start) {
    DeviceSession& session = target.session();
    const wye_dispatch_desc request = kept_form(target.request());
    const WorkPtr<Pending> none;
    if (!Repeat::may_have(request) || !session.is_ready() || session.trace() != nullptr)
        return none;
    // If the limits on pending work are reached, the request takes all steps, since its own errors
    // take precedence over DEVICE_BUSY.
    auto room = session.pending().room(0, (target.request().flags & WYE_DISPATCH_AT_ONCE) != 0);
    if (!room.ok()) return none;
    WorkPtr<PendingLaunch> out = take(context, session);
    out->graph_ = nullptr;
    out->steps_ = nullptr;
    out->name_ = &target.program().name();
    out->timed_ = (request.flags & WYE_DISPATCH_TIMED) != 0;
    if (context.logs()) out->texts_ = std::make_unique<const Texts>(target.desc());
    WYE_ASSIGN(const bool started,
               out->start_again(context.handles(), request, target, queue, start));
    if (!started) return none;
    room->take(out);
    return WorkPtr<Pending>(std::move(out));
}

Result<WorkPtr<Pending>> submit_dispatch(Context& context, Target& target,
                                         const RequestRules& rules, Clock::time_point start) {
    NamedQueue queue;
    if (target.has_device()) [[likely]] {
        WYE_ASSIGN(queue, NamedQueue::find(context.handles(), target.request().queue,
                                           target.session(), true));
        WYE_ASSIGN(auto repeated, PendingLaunch::repeat(context, target, queue.number(), start));
        if (repeated) return repeated;
    }
    return Pending::submit(context, target, rules, start, std::move(queue), Repeat::keep);
}

[[gnu::hot]] bool PendingLaunch::wait(std::optional<Clock::time_point> deadline) {
    if (has_ended()) return true;
    Result<void> waited;
    if (!deadline)
        waited = session_.wait(ticket_);
    else if (!await(ticket_, deadline, waited))
        return has_ended();
    const sdk::Lock lock(mutex_);
    if (!has_ended()) end(std::move(waited));
    return true;
}

Result<void> PendingLaunch::outcome_of(Result<void> waited, RunTimes& times) {
    WYE_TRY(session_.ended(std::move(waited), ticket_, timed_, times));
    if ((special_.load(std::memory_order_relaxed) & kGivenUp) != 0) [[unlikely]]
        return stopped();
    return graph_ != nullptr ? graph_->check_traps(execution_, report_) : Result<void>();
}

[[gnu::hot]] void PendingLaunch::end(Result<void> waited) noexcept {
    const Clock::time_point begun = begun_.time();
    RunTimes times;
    times.queued = queued_.time();
    times.enqueue_ns = nanoseconds(times.queued - begun);
    times.wanted = !unread_.load(std::memory_order_relaxed) || context_.reads_times();
    if (steps_ != nullptr) report_ = Graph::report_of(*steps_);
    Result<void> outcome;
    try {
        outcome = outcome_of(std::move(waited), times);
    } catch (const std::exception&) {
        error_ = sdk::errors::brief(Code::OUT_OF_MEMORY);
    }
    complete(begun, times, std::move(outcome));
    session_.counters().dispatched(!error_, report_);
    if (context_.logs()) [[unlikely]]
        log(texts_.get());
    execution_.release();
    leave();
}

void PendingLaunch::end_without_memory() noexcept {
    const sdk::Lock lock(mutex_);
    if (has_ended() || !ticket_.queue->has_ended(ticket_.value)) return;
    error_ = sdk::errors::brief(Code::OUT_OF_MEMORY);
    end({});
}

void PendingLaunch::leave() noexcept {
    WorkRef listed;  // released after the lock
    const sdk::Lock lock(session_.queues().mutex);
    session_.pending().assert_held();
    ended_.store(true, std::memory_order_release);  // in one step with `unlink`, as in remove
    if (steps_ != nullptr) Graph::settle(*steps_);
    listed = session_.pending().unlink(*this);
}

}  // namespace wye::exec
