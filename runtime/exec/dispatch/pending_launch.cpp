// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/pending_launch.hpp"

#include <exception>
#include <utility>

#include "exec/dispatch/report.hpp"

namespace wye::exec {

[[gnu::hot]] Result<std::shared_ptr<Pending>> PendingLaunch::submit(
    const Context& context, Graph& graph, registry::Pin&& pin, std::shared_ptr<Graph>&& shared,
    const wye_graph_run_desc& run, Clock::time_point start) {
    DeviceSession& session = graph.session();
    auto out = std::allocate_shared<PendingLaunch>(
        RecyclingAllocator<PendingLaunch>(session.launch_recycler()), context, session, &graph,
        graph.label(), start, (run.flags & WYE_DISPATCH_TIMED) != 0);
    out->pin_ = std::move(pin);
    out->shared_ = std::move(shared);
    WYE_TRY(session.pending().add(out, 0, (run.flags & WYE_DISPATCH_AT_ONCE) != 0));
    try {
        const sdk::Lock lock(out->mutex_);
        auto started = graph.submit(context.handles(), run, start, out->times_, out->execution_,
                                    out->ticket_, out->report_);
        if (started.ok()) [[likely]] {
            out->submitted_.store(true, std::memory_order_release);
            return std::shared_ptr<Pending>(std::move(out));
        }
        session.pending().remove(*out);
        return std::move(started).error();
    } catch (...) {
        session.pending().remove(*out);
        throw;
    }
}

Result<bool> PendingLaunch::start_again(const registry::HandleTable& handles,
                                        const wye_dispatch_desc& request, Target& target,
                                        std::uint32_t queue, Clock::time_point start) {
    const sdk::Lock lock(mutex_);
    Repeated work{report_, {}, {}};
    if (!submit_repeated(handles, request, target.program(), session_, queue, work)) return false;
    times_.submitted(start);
    if (!work.sent.ok()) return session_.noted(std::move(work.sent).error());
    report_.device = target.desc().device;
    ticket_ = std::move(work.ticket);
    if (Pipeline* const pipeline = target.pipeline()) pipeline->launched();
    pin_ = target.take_pin();
    submitted_.store(true, std::memory_order_release);
    return true;
}

Result<std::shared_ptr<Pending>> PendingLaunch::repeat(const Context& context, Target& target,
                                                       std::uint32_t queue,
                                                       Clock::time_point start) {
    DeviceSession& session = target.session();
    const wye_dispatch_desc request = kept_form(target.request());
    const std::shared_ptr<Pending> none;
    if (!Repeats::may_have(request) || !session.is_ready() || session.trace() != nullptr)
        return none;
    auto out = std::allocate_shared<PendingLaunch>(
        RecyclingAllocator<PendingLaunch>(session.launch_recycler()), context, session, nullptr,
        target.program().name(), start, (request.flags & WYE_DISPATCH_TIMED) != 0);
    if (context.logs()) out->texts_ = std::make_unique<const Texts>(target.desc());
    // If the limits on pending work are reached, the request takes all steps, since its own errors
    // take precedence over DEVICE_BUSY.
    const bool at_once = (target.request().flags & WYE_DISPATCH_AT_ONCE) != 0;
    if (!session.pending().add(out, 0, at_once).ok()) return none;
    try {
        auto started = out->start_again(context.handles(), request, target, queue, start);
        if (started.ok() && *started) return std::shared_ptr<Pending>(std::move(out));
        session.pending().remove(*out);
        if (!started.ok()) return std::move(started).error();
        return none;
    } catch (...) {
        session.pending().remove(*out);
        throw;
    }
}

[[gnu::hot]] bool PendingLaunch::wait(std::optional<Clock::time_point> deadline) {
    if (has_ended()) return true;
    if (!submitted_.load(std::memory_order_acquire)) [[unlikely]] {
        // A poll does not wait for the submit in progress, which holds the mutex.
        if (deadline == Clock::time_point::min()) return false;
        const sdk::Lock lock(mutex_);
        if (!submitted_.load(std::memory_order_relaxed)) return has_ended();
    }
    Result<void> waited;
    if (!deadline)
        waited = session_.wait(ticket_);
    else if (!await(ticket_, deadline, waited))
        return has_ended();
    const sdk::Lock lock(mutex_);
    if (!has_ended()) end(std::move(waited));
    return true;
}

Result<void> PendingLaunch::outcome_of(Result<void> waited) {
    WYE_TRY(session_.ended(std::move(waited), ticket_, timed_, times_));
    if (given_up_.load(std::memory_order_relaxed)) [[unlikely]]
        return cancelled();
    return graph_ != nullptr ? graph_->check_traps(execution_, report_) : Result<void>();
}

[[gnu::hot]] void PendingLaunch::end(Result<void> waited) noexcept {
    Result<void> outcome;
    try {
        outcome = outcome_of(std::move(waited));
        complete(outcome);
    } catch (const std::exception&) {  // cannot happen: short texts need no allocation
        outcome = Error(Code::OUT_OF_MEMORY, "no host memory", "Fix: free memory", "");
    }
    session_.counters().dispatched(outcome.ok(), report_);
    if (!outcome.ok()) [[unlikely]]
        error_ = std::move(outcome).error();
    if (context_.logs()) [[unlikely]]
        log(texts_.get());
    execution_.release();
    leave();
}

}  // namespace wye::exec
