// SPDX-License-Identifier: Apache-2.0
#include "exec/graph/graph.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "exec/dispatch/report.hpp"
#include "exec/dispatch/traps.hpp"
#include "registry/process_state.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::exec {
namespace {

Error about(Error error, std::size_t step, const std::string& label) {
    error.message = fmt::format("step {} of graph `{}`: {}", step, label, error.message);
    return error;
}

}  // namespace

void Execution::release() noexcept {
    if (Graph* graph = std::exchange(borrowed_, nullptr)) {
        const sdk::Lock lock(graph->session_.queues().mutex);
        graph->recording_->words_taken_ = false;
    }
    words = nullptr;
    workspace.release();
    ticket = {};
}

Result<std::shared_ptr<Graph>> Graph::begin(DeviceSession& session, wye_device device,
                                            std::string_view label) {
    auto out = std::make_shared<Graph>(session, label);
    out->device_ = device;
    WYE_ASSIGN(out->recording_, Recording::begin(session, device, out->label_));
    return out;
}

Result<void> Graph::add(const Context& context, const wye_dispatch_desc& desc) {
    WYE_ASSIGN(Target target, Target::find(context.handles(), desc));
    return recording_->add(context, std::move(target));
}

Result<void> Graph::finish(Use use) { return recording_->finish(use); }

bool Graph::is_idle() const { return recording_->is_empty(); }

Result<std::shared_ptr<Graph>> Graph::record(const Context& context, registry::Pin device,
                                             const wye_graph_desc& desc) {
    WYE_ASSIGN(const auto out,
               begin(device.as<DeviceSession>(), desc.device, sdk::from_abi(desc.label)));
    const sdk::Lock lock(out->rebinding_);
    for (std::size_t i = 0; i < desc.step_count; ++i) {
        const wye_graph_step& step = desc.steps[i];
        auto added = step.dispatch != nullptr ? out->add(context, *step.dispatch)
                                              : out->recording_->add(context, *step.transfer);
        if (!added.ok()) return about(std::move(added).error(), i, out->label_);
        if (step.dispatch != nullptr)
            out->steps_.emplace_back(*step.dispatch);
        else
            out->steps_.emplace_back(*step.transfer);
    }
    WYE_TRY(out->finish(Use::Often));
    return out;
}

// ---- Other buffers ------------------------------------------------------------------------

Graph::Step::Step(const wye_dispatch_desc& desc)
    : dispatches(true),
      dispatch(desc),
      arguments(desc.arguments, desc.arguments + desc.argument_count),
      profile(sdk::from_abi(desc.profile)) {
    dispatch.arguments = nullptr;
    dispatch.params = nullptr;
    dispatch.label = dispatch.profile = {};
}

void Graph::Step::replace(std::span<const wye_graph_rebinding> changes) {
    const auto change = [&](wye_buffer& buffer) {
        const auto found = std::ranges::find(changes, buffer, &wye_graph_rebinding::recorded);
        if (found != changes.end()) buffer = found->buffer;
    };
    for (wye_argument& argument : arguments) change(argument.buffer);
    change(transfer.buffer);
    change(transfer.source_buffer);
}

Result<void> Graph::check_changes(std::span<const wye_graph_rebinding> changes) const {
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const wye_buffer recorded = changes[i].recorded;
        if (!recording_->names(recorded))
            return Error(Code::NOT_FOUND,
                         fmt::format("rebinding {} of graph `{}`: no step names the buffer {:#x}",
                                     i, label_, recorded),
                         "Fix: name a buffer that the steps use now", label_);
        const auto before = changes.first(i);
        if (std::ranges::find(before, recorded, &wye_graph_rebinding::recorded) != before.end())
            return Error(
                Code::DUPLICATE,
                fmt::format("rebinding {} of graph `{}`: the buffer {:#x} was named before", i,
                            label_, recorded),
                "Fix: name each buffer once", label_);
    }
    return {};
}

// Refuses while an execution is in flight, since it uses the recording.
Result<void> Graph::check_idle(QueuePool& queues) const {
    const auto& newest = recording_->newest_;
    bool runs = recording_->traps_ && recording_->words_taken_;
    for (std::uint32_t i = 0; i < newest.size(); ++i) runs = runs || queues.runs(i, newest[i]);
    if (!runs) return {};
    return Error(Code::DEVICE_BUSY, fmt::format("graph `{}` has an execution in flight", label_),
                 "Fix: wait for its end (wye_pending_wait) before giving it other buffers", label_);
}

Result<std::unique_ptr<Recording>> Graph::record_again(const Context& context,
                                                       std::span<const Step> steps) {
    std::vector<std::uint64_t> params;
    std::vector<std::size_t> counts;
    {
        const sdk::Lock lock(session_.queues().mutex);
        params = recording_->words_;
        for (const auto& part : recording_->parts_) counts.push_back(part->word_count);
    }
    WYE_ASSIGN(auto out, Recording::begin(session_, device_, label_));
    std::span<const std::uint64_t> words = params;
    for (std::size_t i = 0, dispatch = 0; i < steps.size(); ++i) {
        const Step& step = steps[i];
        auto added = [&]() -> Result<void> {
            if (!step.dispatches) return out->add(context, step.transfer);
            wye_dispatch_desc desc = step.dispatch;
            desc.arguments = step.arguments.data();
            desc.params = words.data();
            desc.profile = sdk::to_abi(step.profile);
            words = words.subspan(counts[dispatch]);
            const registry::HandleTable& handles = context.handles();
            WYE_ASSIGN(registry::Pin program,
                       handles.pin_again(recording_->parts_[dispatch]->program));
            ++dispatch;
            WYE_ASSIGN(Target target, Target::find_again(handles, desc, std::move(program)));
            return out->add(context, std::move(target));
        }();
        if (!added.ok()) return about(std::move(added).error(), i, label_);
    }
    WYE_TRY(out->finish(Use::Often));
    return out;
}

Result<void> Graph::rebind(const Context& context, std::span<const wye_graph_rebinding> changes) {
    const sdk::Lock rebinding(rebinding_);
    WYE_TRY(session_.ready());
    WYE_TRY(check_changes(changes));
    const auto idle = [&]() -> Result<void> {
        const sdk::Lock lock(session_.queues().mutex);
        return check_idle(session_.queues());
    };
    WYE_TRY(idle());  // before recording, which takes long, and again afterwards
    std::vector<Step> steps = steps_;
    for (Step& step : steps) step.replace(changes);
    WYE_ASSIGN(std::unique_ptr<Recording> made, record_again(context, steps));
    {
        const sdk::Lock lock(session_.queues().mutex);
        WYE_TRY(check_idle(session_.queues()));
        std::swap(recording_, made);
    }
    steps_ = std::move(steps);
    return {};
}

// ---- Execution ----------------------------------------------------------------------------

[[gnu::hot]] Result<void> Graph::submit(const registry::HandleTable& handles,
                                        const wye_graph_run_desc& run, Clock::time_point start,
                                        RunTimes& times, Execution& out) {
    WYE_TRY(session_.ready());
    if (run.queue != 0) [[unlikely]]
        return submit_named(handles, run, start, times, out);
    return submit_on(0, handles, run, start, times, out);
}

[[gnu::noinline]] Result<void> Graph::submit_named(const registry::HandleTable& handles,
                                                   const wye_graph_run_desc& run,
                                                   Clock::time_point start, RunTimes& times,
                                                   Execution& out) {
    WYE_ASSIGN(const NamedQueue queue, NamedQueue::find(handles, run.queue, session_, true));
    return submit_on(queue.number(), handles, run, start, times, out);
}

[[gnu::always_inline]] inline Result<void> Graph::submit_on(std::uint32_t queue,
                                                            const registry::HandleTable& handles,
                                                            const wye_graph_run_desc& run,
                                                            Clock::time_point start,
                                                            RunTimes& times, Execution& out) {
    const SubmitOptions options((run.flags & WYE_DISPATCH_TIMED) != 0, queue);
    auto sent = [&] {
        QueuePool& queues = session_.queues();
        const sdk::Lock lock(queues.mutex);
        return submit_with(handles, queues, run, options, out);
    }();
    times.submitted(start);
    if (!sent.ok()) [[unlikely]]
        return session_.noted(std::move(sent).error());
    session_.counters().submitted();
    return sent;
}

// Some drivers change process state (signal handlers) at the first launch, so it is guarded.
Result<void> Graph::submit_first(const registry::HandleTable& handles, QueuePool& queues,
                                 const wye_graph_run_desc& run, SubmitOptions options,
                                 Execution& out) {
    const registry::ProcessStateGuard guard(!session_.device()->built_in());
    recording_->warm_ = true;
    auto sent = submit_with(handles, queues, run, options, out);
    recording_->warm_ = sent.ok();
    return sent;
}

[[gnu::hot]] Result<void> Graph::submit_with(const registry::HandleTable& handles,
                                             QueuePool& queues, const wye_graph_run_desc& run,
                                             SubmitOptions options, Execution& out) {
    Recording& steps = *recording_;
    if (!steps.warm_) [[unlikely]]
        return submit_first(handles, queues, run, options, out);
    if (run.params != nullptr || run.param_count != 0)
        WYE_TRY(steps.set_params({run.params, static_cast<std::size_t>(run.param_count)}));
    if (steps.frees_ != queues.frees()) [[unlikely]]
        WYE_TRY(steps.check_live(handles, queues));
    // Trap words and commands must not be used by two executions at once.
    const std::uint32_t last = steps.last_queue_;
    const bool full = steps.limited_ && queues.is_pending(last, steps.newest_[last]);
    if ((steps.traps_ && steps.words_taken_) || full) [[unlikely]]
        return submit_apart(queues, options, out);
    auto sent = queues.submit(session_.device(), steps.execute_, steps.uses_, options, out.ticket);
    if (!sent.ok()) [[unlikely]]
        return sent;
    steps.last_queue_ = out.ticket.index;
    steps.newest_[out.ticket.index] = out.ticket.value;
    if (steps.traps_) {
        steps.words_taken_ = true;
        out.borrowed_ = this;
        out.words = steps.workspace_->trap_words;
    }
    return sent;
}

Result<void> Graph::submit_apart(QueuePool& queues, SubmitOptions options, Execution& out) {
    Recording& steps = *recording_;
    const auto submit = [&](std::span<const wye_operation> list) WYE_REQUIRES(queues.mutex) {
        auto sent = queues.submit(session_.device(), list, steps.uses_, options, out.ticket);
        if (sent.ok()) steps.newest_[out.ticket.index] = out.ticket.value;
        return sent;
    };
    if (!steps.traps_) return submit(steps.operations_);
    out.workspace = session_.workspace();
    WYE_ASSIGN(wye_buffer_object * trap, session_.trap_buffer(*out.workspace));
    const wye_buffer_object* const own = steps.workspace_->trap_memory->object();
    std::vector<wye_operation>& list = out.workspace->operations;
    list.assign(steps.operations_.begin(), steps.operations_.end());
    for (wye_operation& operation : list) {
        if (operation.kind == WYE_OPERATION_FILL && operation.u.fill.target == own)
            operation.u.fill.target = trap;
        if (operation.kind == WYE_OPERATION_DISPATCH && operation.u.dispatch.trap.buffer == own)
            operation.u.dispatch.trap.buffer = trap;
    }
    wye_operation& read = list.emplace_back(sdk::new_operation(WYE_OPERATION_DOWNLOAD));
    read.u.transfer = {trap, 0, Recording::kTrapBytes, nullptr, out.workspace->trap_words};
    out.words = out.workspace->trap_words;
    return submit(list);
}

wye_report Graph::new_report() const {
    const sdk::Lock lock(session_.queues().mutex);
    return recording_->report_;
}

Result<void> Graph::check_traps(const Execution& execution, wye_report& report) const {
    if (execution.words == nullptr) return {};
    Trap trap;
    auto result = check_trap(label_, session_.info(), execution.words, trap);
    report.trap_code = trap.code;
    report.trap_count = trap.count;
    return result;
}

[[gnu::hot]] Result<void> Graph::run(const Context& context, const wye_graph_run_desc& run,
                                     Clock::time_point start, wye_report* out) {
    const bool timed = (run.flags & WYE_DISPATCH_TIMED) != 0;
    RunTimes times;
    Execution execution;
    WYE_TRY(submit(context.handles(), run, start, times, execution));
    Result<void> result =
        session_.ended(session_.wait(execution.ticket, UINT64_MAX), execution.ticket, timed, times);
    wye_report report = new_report();
    if (result.ok()) result = check_traps(execution, report);
    report_times(times, start, timed, report);
    session_.counters().dispatched(result.ok(), report);
    if (context.logs()) [[unlikely]] {
        wye_dispatch_desc desc{};
        log_dispatch(context, desc, label_, session_.info().selector, result, report);
    }
    if (out != nullptr && (result.ok() || result.error().code == Code::TRAPPED)) {
        report.header = out->header;
        *out = report;
    }
    return result;
}

Result<void> Graph::describe(wye_graph_info& out) const {
    const sdk::Lock lock(session_.queues().mutex);
    return recording_->describe(out);
}

}  // namespace wye::exec
