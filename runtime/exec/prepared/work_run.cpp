// SPDX-License-Identifier: Apache-2.0
//
// The ordinary path of an execution.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "exec/dispatch/report.hpp"
#include "exec/dispatch/traps.hpp"
#include "exec/prepared/work.hpp"

namespace wye::exec {

void PreparedWork::Execution::give_back() noexcept {
    words_ = nullptr;
    workspace_.release();
    if (instance_ == nullptr) return;
    const sdk::Lock lock(session_->queues().mutex);
    std::exchange(instance_, nullptr)->words_taken = false;
}

Result<void> PreparedWork::await_place(const registry::HandleTable& handles,
                                       const wye_graph_run_desc& run, Clock::time_point deadline) {
    WYE_ASSIGN(const NamedQueue queue, NamedQueue::find(handles, run.queue, session_, true));
    {
        QueuePool& queues = session_.queues();
        const sdk::Lock lock(queues.mutex);
        if (queues.await_place(uses_, queue.number(), deadline)) return {};
    }
    const bool at_once = (run.flags & WYE_DISPATCH_AT_ONCE) != 0;
    return Error(
        at_once ? Code::DEVICE_BUSY : Code::TIMEOUT,
        fmt::format(
            "graph `{}` must wait: earlier work on the same buffers or queue of {} is still being "
            "compiled, or has fixpoint iterations left to submit",
            label_, session_.info().selector),
        at_once ? "Fix: wait for that work first, or leave WYE_DISPATCH_AT_ONCE out"
                : "Fix: give a longer time-out, or prepare programs before they are "
                  "dispatched (wye_program_prepare_submit)",
        label_);
}

Result<void> PreparedWork::check_live(const registry::HandleTable& handles, QueuePool& queues) {
    constexpr std::size_t kMost = WYE_LIMIT_BUFFERS;  // handles checked at once
    for (std::size_t first = 0; first < handles_.size(); first += kMost) {
        auto used = handles.begin_use(
            std::span(handles_).subspan(first, std::min(kMost, handles_.size() - first)));
        if (!used.ok() && used.error().code == Code::STALE_HANDLE)
            return std::move(used).error().wrapped(
                Code::STALE_HANDLE, fmt::format("graph `{}` uses a buffer that was freed", label_),
                "Fix: keep its buffers while it runs, or put others in their place "
                "(wye_graph_rebind)",
                label_);
        WYE_TRY(std::move(used));
    }
    frees_ = queues.frees();
    return {};
}

[[gnu::hot]] Result<bool> PreparedWork::submit(const registry::HandleTable& handles,
                                               const wye_graph_run_desc& run,
                                               Clock::time_point start, const Submitted& out) {
    WYE_TRY(session_.ready());
    const bool kept = use_ == Use::Kept;
    const Span span(kept ? session_.trace() : nullptr, "repeat");
    NamedQueue queue;
    if (run.queue != 0) [[unlikely]] {
        WYE_ASSIGN(queue, NamedQueue::find(handles, run.queue, session_, true));
    }
    const bool at_once = (run.flags & WYE_DISPATCH_AT_ONCE) != 0;
    std::optional<Clock::time_point> deadline;
    if (run.timeout_ns != 0) deadline = after(start, run.timeout_ns);
    SubmitOptions options = SubmitOptions((run.flags & WYE_DISPATCH_TIMED) != 0, queue.number())
                                .waiting(at_once, deadline);
    // With `at_once` or a deadline, the caller has called `await_place` if the line had work. A
    // kept request need not wait: the line was empty when its call began.
    if (at_once || deadline || kept) options = options.in_place();
    QueuePool& queues = session_.queues();
    Sending sending;
    auto sent = [&]() -> Result<bool> {
        {
            const sdk::Lock lock(queues.mutex);
            auto begun = begin_submit(handles, queues, run, options, sending);
            if (!begun.ok() || !*begun) return begun;
        }
        auto submitted = send(queues, sending, out.execution);
        const sdk::Lock lock(queues.mutex);
        end_submit(queues, sending, submitted.ok(), out);
        WYE_TRY(std::move(submitted));
        return true;
    }();
    if (sent.ok() && !*sent) return false;
    out.times.submitted(start);
    if (sent.ok())
        session_.counters().submitted();
    else if (kept)
        session_.counters().failed();
    if (!sent.ok()) return session_.noted(std::move(sent).error());
    return sent;
}

[[gnu::hot]] Result<bool> PreparedWork::begin_submit(const registry::HandleTable& handles,
                                                     QueuePool& queues,
                                                     const wye_graph_run_desc& run,
                                                     SubmitOptions options, Sending& out) {
    for (;;) {  // everything may have changed since the last iteration
        if (replaced_) [[unlikely]]
            return false;
        auto ready = take_params(run.params, run.param_count);
        if (ready.ok() && frees_ != queues.frees()) [[unlikely]]
            ready = check_live(handles, queues);
        if (!ready.ok()) [[unlikely]] {
            if (use_ == Use::Kept) return false;
            return std::move(ready).error();
        }
        Instance* one = instances_.front().get();
        out.apart = false;
        if (!one->is_idle(queues)) [[unlikely]] {
            one = other_instance(queues, out.apart);
            if (one == nullptr) continue;
        }
        auto begun = queues.begin(session_.device(), uses_, options, out.queue, &one->sending);
        if (!begun.ok()) [[unlikely]]
            return std::move(begun).error();
        if (!*begun) [[unlikely]]
            continue;
        give_params(*one);
        out.instance = one;
        out.warm = std::exchange(warm_, true);
        return true;
    }
}

PreparedWork::Instance* PreparedWork::other_instance(QueuePool& queues, bool& apart) {
    for (const auto& one : instances_)
        if (one->is_idle(queues)) return one.get();
    for (const auto& one : instances_)  // asks the driver
        if (!one->sending && !one->words_taken && !queues.runs(one->last_queue, one->last_value))
            return one.get();
    if (!growing_ && !full_) {
        grow(queues);
        return nullptr;
    }
    const auto free = std::ranges::find(instances_, false, &Instance::sending);
    apart = free != instances_.end();
    if (apart) return free->get();
    queues.await_sends();
    return nullptr;
}

void PreparedWork::grow(QueuePool& queues) {
    growing_ = true;
    std::unique_ptr<Instance> made;
    queues.mutex.unlock();
    try {
        auto result = make_instance(operations_, traps_ ? session_.workspace() : WorkspaceLease());
        if (result.ok()) made = std::move(result).value();
    } catch (const std::exception&) {  // no memory: the existing instances must suffice
    }
    queues.mutex.lock();
    growing_ = false;
    if (made)
        instances_.push_back(std::move(made));
    else
        full_ = true;
    full_ = full_ || instances_.size() == kMostInstances;
}

[[gnu::hot]] Result<void> PreparedWork::send(QueuePool& queues, Sending& sending, Execution& out) {
    const bool kept = use_ == Use::Kept;  // a kept request has run before
    const auto guard = session_.guard_launch(kept || sending.warm);
    if (sending.apart) return send_apart(queues, sending, out);
    Instance& one = *sending.instance;
    if (kept && !one.asked) [[unlikely]] {
        // After an error the operations are submitted, which has the same effect.
        (void)make_commands(one);
        set_execute(one);
    }
    return queues.send(sending.queue, one.execute);
}

Result<void> PreparedWork::send_apart(QueuePool& queues, Sending& sending, Execution& out) {
    const Instance& one = *sending.instance;
    if (!traps_) return queues.send(sending.queue, std::span(one.operations));
    WorkspaceLease workspace = session_.workspace();
    WYE_ASSIGN(wye_buffer_object * trap, session_.trap_buffer(*workspace));
    workspace->operations.assign(one.operations.begin(), one.operations.end());
    replace_trap(workspace->operations, one.workspace->trap_memory->object(), trap,
                 workspace->bindings);
    read_trap(workspace->operations, *workspace);
    WYE_TRY(queues.send(sending.queue, workspace->operations));
    out.words_ = workspace->trap_words;
    out.workspace_ = std::move(workspace);
    return {};
}

[[gnu::hot]] void PreparedWork::end_submit(QueuePool& queues, Sending& sending, bool sent,
                                           const Submitted& out) {
    queues.end(sending.queue, sent);
    if (!sent) [[unlikely]] {
        warm_ = sending.warm;
        return;
    }
    if (!traps_) quick_frees_ = frees_;
    out.ticket = std::move(sending.queue.ticket);
    const auto& [queue, index, value] = out.ticket;
    if (sending.apart) {
        newest_[index] = value;
    } else {
        note_newest(*sending.instance, index, value);
        if (traps_) {
            sending.instance->words_taken = true;
            out.execution.session_ = &session_;
            out.execution.instance_ = sending.instance;
            out.execution.words_ = sending.instance->workspace->trap_words;
        }
    }
    if (use_ == Use::Kept) session_.counters().repeated();
    out.report = report_;
}

void PreparedWork::Quick::fail(QueuePool& queues) const {
    // This value was not used. The value before it is noted as the work's newest on this queue: the
    // work's last execution there has that value or a smaller one.
    work->note_newest(*instance, index, value - 1);
    instance->sending = false;
    queues.fail_in_line(index, work->uses_, value);
}

bool PreparedWork::is_busy(const QueuePool& queues) const {
    return std::ranges::any_of(instances_, [&](const std::unique_ptr<Instance>& one) {
        return one->sending ||
               (!one->commands.empty() && queues.is_pending(one->last_queue, one->last_value));
    });
}

Result<void> PreparedWork::read_traps(const Execution& execution, wye_report& report) const {
    Trap trap;
    auto result = check_trap(label_, session_.info(), execution.words_, trap, Ran::Graph);
    report.trap_code = trap.code;
    report.trap_count = trap.count;
    return result;
}

[[gnu::hot]] Result<bool> PreparedWork::run(const Context& context, const wye_graph_run_desc& run,
                                            const wye_dispatch_desc* request,
                                            Clock::time_point start, wye_report* out) {
    RunTimes times;
    times.wanted = out != nullptr || context.reads_times();
    const bool timed = times.wanted && (run.flags & WYE_DISPATCH_TIMED) != 0;
    Execution execution;
    Ticket ticket;
    wye_report report;
    WYE_ASSIGN(const bool sent,
               submit(context.handles(), run, start, {execution, ticket, times, report}));
    if (!sent) return false;
    Result<void> result = session_.ended(session_.wait(ticket, UINT64_MAX), ticket, timed, times);
    if (result.ok()) result = check_traps(execution, report);
    if (times.wanted) report_times(times, start, timed, report);
    session_.counters().dispatched(result.ok(), report);
    if (context.logs()) [[unlikely]]
        log_dispatch(context, request != nullptr ? *request : wye_dispatch_desc{}, label_,
                     session_.info().selector, result, report);
    if (out != nullptr && (result.ok() || result.error().code == Code::TRAPPED)) {
        report.header = out->header;
        *out = report;
    }
    WYE_TRY(std::move(result));
    return true;
}

}  // namespace wye::exec
