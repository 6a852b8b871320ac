// SPDX-License-Identifier: Apache-2.0
#include "exec/prepared/pending_launch.hpp"

#include <exception>
#include <utility>

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
    // These may be the last references to their objects, so they are released after the lock.
    const registry::Pin pin(std::move(pin_));
    std::unique_ptr<PreparedWork> last;
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
        PreparedWork* const work = std::exchange(work_, nullptr);
        if (work != nullptr && work->dereference_held()) [[unlikely]]
            last.reset(work);
        if (ticket_.queue.get() != queues.native(0).get()) [[unlikely]]
            queue.swap(ticket_.queue);
        if (session_.pending().keep_idle(*this)) [[likely]]
            return;
    }
    delete this;
}

registry::Pin PendingLaunch::fail_quick(const PreparedWork::Quick& quick) noexcept {
    registry::Pin pin = std::move(pin_);
    QueuePool& queues = session_.queues();
    const sdk::Lock lock(queues.mutex);
    session_.pending().assert_held();
    quick.fail(queues);
    // This is not the last reference: the submit held the work, so no rebinding has replaced it.
    (void)std::exchange(work_, nullptr)->dereference_held();
    set_references(0);
    session_.pending().keep_back(*this);
    return pin;
}

Result<bool> PendingLaunch::start(const registry::HandleTable& handles,
                                  const wye_graph_run_desc& run, Clock::time_point start) {
    const sdk::Lock lock(mutex_);
    RunTimes times;
    auto sent = work_->submit(handles, run, start, {execution_, ticket_, times, report_});
    queued_ = Instant(times.queued);
    return sent;
}

Result<WorkPtr<Pending>> PendingLaunch::submit(const Context& context, const PreparedRef& work,
                                               registry::Pin& pin, const wye_graph_run_desc& run,
                                               Clock::time_point start, bool watched,
                                               const wye_dispatch_desc* request) {
    DeviceSession& session = work->session();
    const bool at_once = (run.flags & WYE_DISPATCH_AT_ONCE) != 0;
    const bool limited = run.timeout_ns != 0;
    std::optional<Clock::time_point> deadline;
    if (limited) deadline = after(start, run.timeout_ns);
    auto room = session.pending().room(0, at_once, deadline);
    if (!room.ok()) {
        // A kept request takes all steps instead: its own errors take precedence over DEVICE_BUSY.
        if (request != nullptr) return WorkPtr<Pending>();
        return std::move(room).error();
    }
    if (request == nullptr && session.has_line() && (at_once || limited))
        WYE_TRY(
            work->await_place(context.handles(), run, at_once ? Clock::time_point() : *deadline));
    WorkPtr<PendingLaunch> out = take(context, session);
    work->refer();
    out->work_ = work.get();
    out->timed_ = (run.flags & WYE_DISPATCH_TIMED) != 0;
    out->begun_ = Instant(start);
    if (request != nullptr && context.logs()) out->texts_ = std::make_unique<const Texts>(*request);
    if (limited) WYE_TRY(out->set_limit(run.timeout_ns, *deadline, watched));
    WYE_ASSIGN(const bool started, out->start(context.handles(), run, start));
    if (!started) return WorkPtr<Pending>();
    // The pin is taken only now. If a step above fails, `out` is destroyed before `room`, and
    // `room` needs the device, which the caller's pin still keeps.
    out->pin_ = std::move(pin);
    room->take(out);
    if (limited) out->set_alarm();
    return WorkPtr<Pending>(std::move(out));
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
    return work_->check_traps(execution_, report_);
}

[[gnu::hot]] void PendingLaunch::end(Result<void> waited) noexcept {
    const Clock::time_point begun = begun_.time();
    RunTimes times;
    times.queued = queued_.time();
    times.enqueue_ns = nanoseconds(times.queued - begun);
    times.wanted = !unread_.load(std::memory_order_relaxed) || context_.reads_times();
    if (work_->use() != PreparedWork::Use::Once) report_ = work_->report();
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
    session_.pending().remove(*this, ended_);
}

void PendingLaunch::end_without_memory() noexcept {
    const sdk::Lock lock(mutex_);
    if (has_ended() || !ticket_.queue->has_ended(ticket_.value)) return;
    error_ = sdk::errors::brief(Code::OUT_OF_MEMORY);
    end({});
}

}  // namespace wye::exec
