// SPDX-License-Identifier: Apache-2.0
#include "exec/prepared/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "exec/dispatch/report.hpp"
#include "exec/dispatch/traps.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::exec {
namespace {

Error about(Error error, std::size_t step, const std::string& label) {
    error.message = fmt::format("step {} of graph `{}`: {}", step, label, error.message);
    return error;
}

}  // namespace

void Execution::give_back() noexcept {
    Graph& graph = *std::exchange(borrowed_, nullptr);
    const sdk::Lock lock(graph.session_.queues().mutex);
    instance_->words_taken = false;
}

Result<std::shared_ptr<Graph>> Graph::begin(DeviceSession& session, const Routed& routed,
                                            std::string_view label, Use use) {
    auto out = std::make_shared<Graph>(session, label);
    out->routed_ = routed;
    WYE_ASSIGN(out->recording_, Recording::begin(session, routed, out->label_, use));
    return out;
}

Result<void> Graph::add(Context& context, const wye_dispatch_desc& desc) {
    if (recording_->add_alike(context.handles(), desc)) return {};
    WYE_ASSIGN(Target target, Target::find(context.handles(), desc));
    return recording_->add(context, std::move(target));
}

Result<void> Graph::finish() { return recording_->finish(); }

bool Graph::is_idle() const { return recording_->is_empty(); }

namespace {

// The device of a graph: the one that it or its first step with an owner names, else one that is
// chosen for the program of its first dispatch.
Result<Chosen> device_of(Context& context, const wye_graph_desc& desc) {
    const registry::HandleTable& handles = context.handles();
    Routed named{desc.device, WYE_ROUTED_NAMED, 0};
    const wye_dispatch_desc* first = nullptr;
    for (std::size_t i = 0; named.device == 0 && i < desc.step_count; ++i) {
        const wye_graph_step& step = desc.steps[i];
        if (step.dispatch == nullptr) {
            auto buffer = handles.find(step.transfer->buffer, registry::HandleKind::buffer);
            if (!buffer.ok())
                return about(std::move(buffer).error(), i, std::string(sdk::from_abi(desc.label)));
            named = {buffer->as<BufferObject>().device, WYE_ROUTED_OWNER, 0};
            continue;
        }
        auto target = Target::find(handles, *step.dispatch);
        if (!target.ok())
            return about(std::move(target).error(), i, std::string(sdk::from_abi(desc.label)));
        if (target->has_device()) named = target->routed();
        if (first == nullptr) first = step.dispatch;
    }
    if (named.device != 0) {
        WYE_ASSIGN(registry::Pin device, handles.find(named.device, registry::HandleKind::device));
        return Chosen{named, std::move(device)};
    }
    if (first == nullptr)
        return Error(
            Code::INVALID_ARGUMENT,
            fmt::format("graph `{}` has no steps, and names no device", sdk::from_abi(desc.label)),
            "Fix: name a device, or record a step", std::string(sdk::from_abi(desc.label)));
    WYE_ASSIGN(const registry::Pin program,
               handles.find(first->program, registry::HandleKind::program));
    plan::Count3 workgroup;
    std::ranges::copy(first->workgroup, workgroup.begin());
    return choose(context, first->program, program.as<LoadedProgram>(), workgroup,
                  {(first->flags & WYE_DISPATCH_COOPERATIVE) != 0,
                   (first->flags & WYE_DISPATCH_VARIANTS) != 0});
}

}  // namespace

Result<std::shared_ptr<Graph>> Graph::record(Context& context, const wye_graph_desc& desc,
                                             registry::Pin& device) {
    WYE_ASSIGN(Chosen chosen, device_of(context, desc));
    device = std::move(chosen.device);
    WYE_ASSIGN(const auto out, begin(device.as<DeviceSession>(), chosen.routed,
                                     sdk::from_abi(desc.label), Use::Often));
    const sdk::Lock lock(out->rebinding_);
    out->recording_->reserve(desc.step_count);
    out->steps_.reserve(out->recording_->operations_.capacity());
    for (std::size_t i = 0; i < desc.step_count; ++i) {
        const wye_graph_step& step = desc.steps[i];
        wye_dispatch_desc dispatch{};
        if (step.dispatch != nullptr) dispatch = *step.dispatch;
        if (dispatch.device == 0 && dispatch.pipeline == 0) dispatch.device = chosen.routed.device;
        auto added = step.dispatch != nullptr ? out->add(context, dispatch)
                                              : out->recording_->add(context, *step.transfer);
        if (!added.ok()) return about(std::move(added).error(), i, out->label_);
        if (step.dispatch != nullptr)
            out->steps_.emplace_back(dispatch);
        else
            out->steps_.emplace_back(*step.transfer);
    }
    WYE_TRY(out->finish());
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
    change(dispatch.grid_buffer);
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
    bool runs = recording_->growing_;
    for (const auto& one : recording_->instances_) runs = runs || one->sending || one->words_taken;
    for (std::uint32_t i = 0; i < newest.size(); ++i) runs = runs || queues.runs(i, newest[i]);
    if (!runs) return {};
    return Error(Code::DEVICE_BUSY, fmt::format("graph `{}` has an execution in flight", label_),
                 "Fix: wait for its end (wye_pending_wait) before giving it other buffers", label_);
}

Result<std::unique_ptr<Recording>> Graph::record_again(Context& context,
                                                       std::span<const Step> steps) {
    std::vector<std::uint64_t> params;
    std::vector<std::size_t> counts;
    {
        const sdk::Lock lock(session_.queues().mutex);
        params = recording_->words_;
        for (const auto& part : recording_->parts_) counts.push_back(part.word_count);
    }
    WYE_ASSIGN(auto out, Recording::begin(session_, routed_, label_, Use::Often));
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
                       handles.pin_again(*recording_->parts_[dispatch].program));
            ++dispatch;
            WYE_ASSIGN(Target target, Target::find_again(handles, desc, std::move(program)));
            return out->add(context, std::move(target));
        }();
        if (!added.ok()) return about(std::move(added).error(), i, label_);
    }
    WYE_TRY(out->finish());
    return out;
}

Result<void> Graph::rebind(Context& context, std::span<const wye_graph_rebinding> changes) {
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
    std::vector<std::unique_ptr<Recording>> unused;  // freed without the lock
    {
        const sdk::Lock lock(session_.queues().mutex);
        WYE_TRY(check_idle(session_.queues()));
        replaced_.reserve(replaced_.size() + 1);
        unused.reserve(replaced_.size() + 1);
        replaced_.push_back(std::exchange(recording_, std::move(made)));
        const auto last = std::partition(replaced_.begin(), replaced_.end(),
                                         [](const auto& one) { return one->referred_ != 0; });
        unused.assign(std::move_iterator(last), std::move_iterator(replaced_.end()));
        replaced_.erase(last, replaced_.end());
    }
    steps_ = std::move(steps);
    return {};
}

// ---- Execution ----------------------------------------------------------------------------

Result<void> Graph::await_place(const registry::HandleTable& handles, const wye_graph_run_desc& run,
                                Clock::time_point deadline) {
    WYE_ASSIGN(const NamedQueue queue, NamedQueue::find(handles, run.queue, session_, true));
    bool free = false;
    {
        QueuePool& queues = session_.queues();
        const sdk::Lock lock(queues.mutex);
        // A copy, since the recording may be replaced while the mutex is unlocked.
        const std::vector<BufferUse> uses(recording_->uses_.begin(), recording_->uses_.end());
        free = queues.await_place(uses, queue.number(), deadline);
    }
    if (free) return {};
    const bool at_once = (run.flags & WYE_DISPATCH_AT_ONCE) != 0;
    return Error(
        at_once ? Code::DEVICE_BUSY : Code::TIMEOUT,
        fmt::format("graph `{}` must run after work that is still being compiled, or whose "
                    "rounds still run, on the same buffers or queue of {}",
                    label_, session_.info().selector),
        at_once ? "Fix: wait for that work first, or leave WYE_DISPATCH_AT_ONCE out"
                : "Fix: give a longer time-out, or prepare programs before they are "
                  "dispatched (wye_program_prepare_submit)",
        label_);
}

[[gnu::always_inline]] inline Result<void> Graph::submit_work(const registry::HandleTable& handles,
                                                              const wye_graph_run_desc& run,
                                                              SubmitOptions options,
                                                              const Submitted& out) {
    QueuePool& queues = session_.queues();
    Work work;
    {
        const sdk::Lock lock(queues.mutex);
        WYE_TRY(begin_work(handles, queues, run, options, work));
    }
    auto sent = send(queues, work, out.execution);
    const sdk::Lock lock(queues.mutex);
    finish_work(queues, work, sent.ok(), out);
    return sent;
}

[[gnu::hot]] Result<void> Graph::submit(const registry::HandleTable& handles,
                                        const wye_graph_run_desc& run, Clock::time_point start,
                                        const Submitted& out) {
    WYE_TRY(session_.ready());
    NamedQueue queue;
    if (run.queue != 0) [[unlikely]] {
        WYE_ASSIGN(queue, NamedQueue::find(handles, run.queue, session_, true));
    }
    SubmitOptions options((run.flags & WYE_DISPATCH_TIMED) != 0, queue.number());
    const bool at_once = (run.flags & WYE_DISPATCH_AT_ONCE) != 0;
    if (at_once || run.timeout_ns != 0)
        options = options.waiting(at_once, after(start, run.timeout_ns)).in_place();
    auto sent = submit_work(handles, run, options, out);
    out.times.submitted(start);
    if (!sent.ok()) return session_.noted(std::move(sent).error());
    session_.counters().submitted();
    return sent;
}

[[gnu::hot]] Result<void> Graph::begin_work(const registry::HandleTable& handles, QueuePool& queues,
                                            const wye_graph_run_desc& run, SubmitOptions options,
                                            Work& out) {
    for (;;) {  // the recording and its parameters may have changed since the last round
        Recording& steps = *recording_;
        WYE_TRY(steps.take_params(run));
        if (steps.frees_ != queues.frees()) [[unlikely]]
            WYE_TRY(steps.check_live(handles, queues));
        Recording::Instance* one = steps.instances_.front().get();
        out.apart = false;
        if (!one->is_idle(queues)) [[unlikely]] {
            one = other_instance(queues, out.apart);
            if (one == nullptr) continue;
        }
        auto begun =
            queues.begin(session_.device(), steps.uses_, options, out.sending, &one->sending);
        if (!begun.ok()) [[unlikely]]
            return std::move(begun).error();
        if (!*begun) [[unlikely]]
            continue;
        steps.give_params(*one);
        out.steps = &steps;
        out.instance = one;
        out.warm = std::exchange(steps.warm_, true);
        return {};
    }
}

Recording::Instance* Graph::other_instance(QueuePool& queues, bool& apart) {
    Recording& steps = *recording_;
    for (const auto& one : steps.instances_)
        if (one->is_idle(queues)) return one.get();
    for (const auto& one : steps.instances_)  // asks the driver
        if (!one->sending && !one->words_taken && !queues.runs(one->last_queue, one->last_value))
            return one.get();
    if (!steps.growing_ && !steps.full_) {
        steps.growing_ = true;  // so nobody replaces the recording meanwhile
        std::unique_ptr<Recording::Instance> made;
        queues.mutex.unlock();
        try {
            auto result = steps.make_instance(
                steps.operations_, steps.traps_ ? session_.workspace() : WorkspaceLease());
            if (result.ok()) made = std::move(result).value();
        } catch (const std::exception&) {  // no memory: the existing instances must suffice
        }
        queues.mutex.lock();
        steps.growing_ = false;
        if (made)
            steps.instances_.push_back(std::move(made));
        else
            steps.full_ = true;
        steps.full_ = steps.full_ || steps.instances_.size() == Recording::kMostInstances;
        return nullptr;
    }
    const auto free = std::ranges::find(steps.instances_, false, &Recording::Instance::sending);
    apart = free != steps.instances_.end();
    if (apart) return free->get();
    queues.await_sends();
    return nullptr;
}

[[gnu::hot]] Result<void> Graph::send(QueuePool& queues, Work& work, Execution& out) {
    const auto guard = session_.guard_launch(work.warm);
    return work.apart ? send_apart(queues, work, out)
                      : queues.send(work.sending, work.instance->execute);
}

[[gnu::hot]] void Graph::finish_work(QueuePool& queues, Work& work, bool sent,
                                     const Submitted& out) {
    queues.end(work.sending, sent);
    Recording& steps = *work.steps;
    if (!sent) [[unlikely]] {
        steps.warm_ = work.warm;
        return;
    }
    const auto& [queue, index, value] = work.sending.ticket;
    if (work.apart) {
        steps.newest_[index] = value;
    } else {
        note_newest(steps, *work.instance, index, value);
        if (steps.traps_) {
            work.instance->words_taken = true;
            out.execution.borrowed_ = this;
            out.execution.instance_ = work.instance;
            out.execution.words = work.instance->workspace->trap_words;
        }
    }
    if (out.referred == nullptr || steps.use_ == Use::Once) {
        out.report = steps.report_;
    } else {
        *out.referred = &steps;
        ++steps.referred_;
    }
    out.ticket = std::move(work.sending.ticket);
}

void Graph::fail_plain(QueuePool& queues, Plain work) {
    // The value before this one belongs to work at least as new as the graph's last execution.
    note_newest(*work.steps, *work.instance, work.index, work.value - 1);
    work.instance->sending = false;
    queues.fail_in_line(work.index, work.steps->uses_, work.value);
}

Result<void> Graph::send_apart(QueuePool& queues, Work& work, Execution& out) {
    const Recording::Instance& one = *work.instance;
    if (!work.steps->traps_) return queues.send(work.sending, std::span(one.operations));
    out.workspace = session_.workspace();
    WYE_ASSIGN(wye_buffer_object * trap, session_.trap_buffer(*out.workspace));
    const wye_buffer_object* const own = one.workspace->trap_memory->object();
    std::vector<wye_operation>& list = out.workspace->operations;
    list.assign(one.operations.begin(), one.operations.end());
    work.steps->replace_trap(list, own, trap, out.workspace->bindings);
    wye_operation& read = list.emplace_back(sdk::new_operation(WYE_OPERATION_DOWNLOAD));
    read.u.transfer = {trap, 0, work.steps->trap_bytes(), nullptr, out.workspace->trap_words};
    out.words = out.workspace->trap_words;
    return queues.send(work.sending, list);
}

Result<void> Graph::read_traps(const Execution& execution, wye_report& report) const {
    Trap trap;
    auto result = check_trap(label_, session_.info(), execution.words, trap, Ran::Graph);
    report.trap_code = trap.code;
    report.trap_count = trap.count;
    return result;
}

[[gnu::hot]] Result<void> Graph::run(const Context& context, const wye_graph_run_desc& run,
                                     Clock::time_point start, wye_report* out) {
    RunTimes times;
    times.wanted = out != nullptr || context.reads_times();
    const bool timed = times.wanted && (run.flags & WYE_DISPATCH_TIMED) != 0;
    Execution execution;
    Ticket ticket;
    wye_report report;
    WYE_TRY(submit(context.handles(), run, start, {execution, ticket, times, report, nullptr}));
    Result<void> result = session_.ended(session_.wait(ticket, UINT64_MAX), ticket, timed, times);
    if (result.ok()) result = check_traps(execution, report);
    if (times.wanted) report_times(times, start, timed, report);
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
