// SPDX-License-Identifier: Apache-2.0
#include "exec/graph/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "exec/device/buffer.hpp"
#include "exec/dispatch/decide.hpp"
#include "exec/dispatch/report.hpp"
#include "exec/dispatch/submit.hpp"
#include "exec/dispatch/traps.hpp"
#include "plan/admit.hpp"
#include "plan/check_free.hpp"
#include "registry/process_state.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::exec {
namespace {

constexpr std::uint64_t kTrapBytes = 8;

Error about(Error error, std::size_t dispatch, const std::string& label) {
    error.message = fmt::format("dispatch {} of graph `{}`: {}", dispatch, label, error.message);
    return error;
}

}  // namespace

void Execution::release() noexcept {
    if (Graph* graph = std::exchange(borrowed_, nullptr)) {
        const sdk::Lock lock(graph->session_.queues().mutex);
        graph->words_taken_ = false;
    }
    words = nullptr;
    workspace.release();
    ticket = {};
}

Result<std::shared_ptr<Graph>> Graph::begin(DeviceSession& session, wye_device device,
                                            std::string_view label) {
    auto out = std::make_shared<Graph>(session);
    out->label_ = label;
    out->device_ = device;
    WYE_TRY(session.ready());
    out->workspace_ = session.workspace();
    return out;
}

Result<std::shared_ptr<Graph>> Graph::record(const Context& context, registry::Pin device,
                                             const wye_graph_desc& desc) {
    WYE_ASSIGN(const auto out,
               begin(device.as<DeviceSession>(), desc.device, sdk::from_abi(desc.label)));
    for (std::size_t i = 0; i < desc.dispatch_count; ++i) {
        auto added = out->add(context, desc.dispatches[i]);
        if (!added.ok()) return about(std::move(added).error(), i, out->label_);
    }
    WYE_TRY(out->finish(Use::Often));
    return out;
}

Result<void> Graph::add(const Context& context, const wye_dispatch_desc& desc) {
    WYE_ASSIGN(Target target, Target::find(context.handles(), desc));
    if (target.desc().device != device_)
        return Error(Code::WRONG_OWNER, "its device is not that of the graph",
                     "Fix: record the dispatches of each device in a graph of its own", label_);
    Flow flow(target);
    flow.counted = true;  // it does not run now
    WYE_TRY(decide(context, flow));
    WYE_TRY(check(flow));
    WYE_TRY(compile_kernels(flow));
    WYE_TRY(check_rounds(flow));
    workspace_->operations.clear();
    workspace_->bindings.clear();
    WYE_ASSIGN(const Operations operations,
               write_operations(flow.program.plan(), flow.launch, flow.bound, flow.kernels,
                                flow.residents, session_, *workspace_));
    add_uses(flow);
    auto part = std::make_unique<Part>();
    part->program = target.take_pin();
    for (const Kernel& kernel : flow.kernels.kernels()) part->compiled.push_back(kernel.compiled);
    add_operations(flow, operations, *part);
    parts_.push_back(std::move(part));
    groups_ = parts_.size() == 1 ? flow.launch.groups : std::array<std::uint32_t, 3>{};
    bytes_filled_ += flow.bound.bytes_filled;
    return {};
}

Result<void> Graph::check(const Flow& flow) const {
    if (flow.desc.timeout_ns != 0)
        return Error(
            Code::UNSUPPORTED,
            fmt::format("it has a time-out of {} ns, and graphs have none", flow.desc.timeout_ns),
            "Fix: set timeout_ns to 0", label_);
    if (flow.desc.queue != 0)
        return Error(Code::INVALID_ARGUMENT, "it names a queue, which executions of a graph do",
                     "Fix: leave `queue` 0 in its dispatches, and set that of wye_graph_run_desc",
                     label_);
    for (const plan::BoundBuffer& bound : flow.launch.bound())
        if (bound.kind != plan::ArgumentKind::Resident)
            return Error(Code::UNSUPPORTED,
                         fmt::format("buffer `{}` is not a resident one",
                                     flow.program.ir().buffers[bound.buffer_index].name),
                         "Fix: make a buffer for it (wye_buffer_create), and upload before the "
                         "graph runs",
                         label_);
    return {};
}

void Graph::add_uses(const Flow& flow) {
    for (const plan::BoundBuffer& bound : flow.launch.bound()) {
        const registry::Pin& pin = flow.residents.pin(bound.argument);
        const auto [place, is_new] = places_.try_emplace(pin.handle(), handles_.size());
        if (is_new) {
            handles_.push_back(pin.handle());
            uses_.push_back({&pin.as<BufferObject>().history, bound.writable});
        } else {
            BufferUse& use = uses_[place->second];
            use.writes = use.writes || bound.writable;
        }
    }
}

void Graph::add_operations(const Flow& flow, const Operations& operations, Part& part) {
    const plan::ProgramPlan& plan = flow.program.plan();
    const sdk::Lock lock(session_.queues().mutex);
    part.first_word = words_.size();
    part.word_count = flow.desc.param_count;
    words_.insert(words_.end(), flow.desc.params, flow.desc.params + flow.desc.param_count);
    part.late = flow.kernels.is_whole() && !plan.params_decide_sizes && part.word_count != 0;
    part.groups = flow.launch.groups;
    part.workgroup = flow.launch.workgroup;
    part.check_free = flow.kernels.form.check_free;
    const lower::Preconditions* preconditions = flow.kernels.preconditions;
    if (preconditions != nullptr && preconditions->read_params()) {
        part.preconditions = preconditions;
        plan::launch_lengths(plan, flow.launch, part.lengths);
    }
    if (part.late) {
        part.block = block_.size() * sizeof block_[0];
        block_.resize(block_.size() + (flow.launch.params_size + 7) / 8);
        std::memcpy(reinterpret_cast<std::byte*>(block_.data()) + part.block, flow.launch.params,
                    flow.launch.params_size);
    }
    const auto& bindings = bindings_.emplace_back(workspace_->bindings);
    for (const wye_operation& operation : operations.launches()) {
        // The trap words are cleared once, and read back once.
        const bool clears = operation.kind == WYE_OPERATION_FILL && traps_ &&
                            workspace_->trap_memory &&
                            operation.u.fill.target == workspace_->trap_memory->object();
        if (clears || operation.kind == WYE_OPERATION_DOWNLOAD) continue;
        wye_operation& kept = operations_.emplace_back(operation);
        if (kept.kind != WYE_OPERATION_DISPATCH) continue;
        wye_dispatch_op& op = kept.u.dispatch;
        op.bindings = bindings.data();
        if (part.late) {
            op.late_offset = static_cast<std::uint32_t>(part.block);
            op.late_size = flow.launch.params_size;
            continue;
        }
        auto& params = fixed_params_.emplace_back((flow.launch.params_size + 7) / 8 + 1);
        if (op.params != nullptr) std::memcpy(params.data(), op.params, flow.launch.params_size);
        op.params = params.data();
    }
    traps_ = traps_ || operations.traps;
}

// None if the plugin has no commands.
Result<void> Graph::make_command() {
    wye_command_desc desc{};
    desc.header = sdk::header_of(sizeof desc);
    desc.operations = operations_.data();
    desc.operation_count = operations_.size();
    desc.params_size = static_cast<std::uint32_t>(block_.size() * sizeof block_[0]);
    desc.label = sdk::to_abi(label_);
    auto made = registry::NativeCommand::create(session_.device(), desc);
    if (made.ok()) {
        command_.emplace(std::move(made).value());
        limited_ = command_->most_pending() != 0;
        if (Trace* trace = session_.trace()) trace->name_object(command_->object(), label_);
        wye_operation& execute = execute_.emplace_back(sdk::new_operation(WYE_OPERATION_EXECUTE));
        execute.u.execute = {command_->object(), nullptr, block_.data()};
    } else if (made.error().code != Code::UNIMPLEMENTED) {
        return session_.noted(std::move(made).error());
    }
    return {};
}

// Operations point into the block, which does not move from here on.
Result<void> Graph::finish(Use use) {
    const sdk::Lock lock(session_.queues().mutex);
    const auto* const block = reinterpret_cast<const std::byte*>(block_.data());
    for (wye_operation& operation : operations_)
        if (operation.kind == WYE_OPERATION_DISPATCH && operation.u.dispatch.late_size != 0)
            operation.u.dispatch.params = block + operation.u.dispatch.late_offset;
    if (use == Use::Often) WYE_TRY(make_command());
    if (!command_) execute_ = operations_;
    // Outside commands nothing is late.
    for (std::vector<wye_operation>* list : {&operations_, &execute_})
        for (wye_operation& operation : *list)
            if (operation.kind == WYE_OPERATION_DISPATCH)
                operation.u.dispatch.late_offset = operation.u.dispatch.late_size = 0;
    if (!traps_) return {};
    wye_operation read = sdk::new_operation(WYE_OPERATION_DOWNLOAD);
    read.u.transfer = {workspace_->trap_memory->object(), 0, kTrapBytes, nullptr,
                       workspace_->trap_words};
    execute_.push_back(read);
    return {};
}

Result<void> Graph::set_params(std::span<const std::uint64_t> params) {
    if (params.size() != words_.size())
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("graph `{}` has {} parameters, and {} were given", label_,
                                 words_.size(), params.size()),
                     "Fix: give those of all its dispatches, in the order recorded", label_);
    if (std::memcmp(params.data(), words_.data(), params.size_bytes()) == 0) return {};
    const auto words_of = [](std::span<const std::uint64_t> all, const Part& part) {
        return all.subspan(part.first_word, part.word_count);
    };
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const Part& part = *parts_[i];
        const auto words = words_of(params, part);
        if (std::ranges::equal(words, words_of(words_, part))) continue;
        const bool keeps_form = part.preconditions == nullptr ||
                                part.preconditions->hold({words, part.lengths, part.groups,
                                                          part.workgroup}) == part.check_free;
        if (!part.late || !keeps_form)
            return about(Error(Code::UNSUPPORTED,
                               "its parameters decide sizes or the form of its kernel, and differ "
                               "from those recorded",
                               "Fix: record a graph with these parameters", label_),
                         i, label_);
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (!parts_[i]->late) continue;
        auto packed = pack(*parts_[i], words_of(params, *parts_[i]));
        if (packed.ok()) continue;
        // A refused execution changes nothing.
        for (std::size_t back = 0; back <= i; ++back)
            if (parts_[back]->late) (void)pack(*parts_[back], words_of(words_, *parts_[back]));
        return about(std::move(packed).error(), i, label_);
    }
    std::ranges::copy(params, words_.begin());
    return {};
}

Result<void> Graph::pack(const Part& part, std::span<const std::uint64_t> words) {
    return plan::pack_params(part.program.as<LoadedProgram>().plan(), words,
                             reinterpret_cast<std::byte*>(block_.data()) + part.block);
}

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

// The first launch may change what belongs to the process.
Result<void> Graph::submit_first(const registry::HandleTable& handles, QueuePool& queues,
                                 const wye_graph_run_desc& run, SubmitOptions options,
                                 Execution& out) {
    const registry::ProcessStateGuard guard(!session_.device()->built_in());
    warm_ = true;
    auto sent = submit_with(handles, queues, run, options, out);
    warm_ = sent.ok();
    return sent;
}

[[gnu::hot]] Result<void> Graph::submit_with(const registry::HandleTable& handles,
                                             QueuePool& queues, const wye_graph_run_desc& run,
                                             SubmitOptions options, Execution& out) {
    if (!warm_) [[unlikely]]
        return submit_first(handles, queues, run, options, out);
    if (run.params != nullptr || run.param_count != 0)
        WYE_TRY(set_params({run.params, static_cast<std::size_t>(run.param_count)}));
    if (frees_ != queues.frees()) [[unlikely]]
        WYE_TRY(check_live(handles, queues));
    // Neither may be used by two executions at once.
    const bool full = limited_ && queues.is_pending(last_queue_, last_value_);
    if ((traps_ && words_taken_) || full) [[unlikely]]
        return submit_apart(queues, options, out);
    auto sent = queues.submit(session_.device(), execute_, uses_, options, out.ticket);
    if (!sent.ok()) [[unlikely]]
        return sent;
    last_queue_ = out.ticket.index;
    last_value_ = out.ticket.value;
    if (traps_) {
        words_taken_ = true;
        out.borrowed_ = this;
        out.words = workspace_->trap_words;
    }
    return sent;
}

Result<void> Graph::check_live(const registry::HandleTable& handles, QueuePool& queues) {
    constexpr std::size_t kMost = WYE_LIMIT_BUFFERS;  // at once
    for (std::size_t first = 0; first < handles_.size(); first += kMost)
        WYE_TRY(handles.begin_use(
            std::span(handles_).subspan(first, std::min(kMost, handles_.size() - first))));
    frees_ = queues.frees();
    return {};
}

Result<void> Graph::submit_apart(QueuePool& queues, SubmitOptions options, Execution& out) {
    if (!traps_) return queues.submit(session_.device(), operations_, uses_, options, out.ticket);
    out.workspace = session_.workspace();
    WYE_ASSIGN(wye_buffer_object * trap, session_.trap_buffer(*out.workspace));
    const wye_buffer_object* const own = workspace_->trap_memory->object();
    std::vector<wye_operation>& list = out.workspace->operations;
    list.assign(operations_.begin(), operations_.end());
    for (wye_operation& operation : list) {
        if (operation.kind == WYE_OPERATION_FILL && operation.u.fill.target == own)
            operation.u.fill.target = trap;
        if (operation.kind == WYE_OPERATION_DISPATCH && operation.u.dispatch.trap.buffer == own)
            operation.u.dispatch.trap.buffer = trap;
    }
    wye_operation& read = list.emplace_back(sdk::new_operation(WYE_OPERATION_DOWNLOAD));
    read.u.transfer = {trap, 0, kTrapBytes, nullptr, out.workspace->trap_words};
    out.words = out.workspace->trap_words;
    return queues.submit(session_.device(), list, uses_, options, out.ticket);
}

wye_report Graph::new_report() const {
    wye_report out{};
    out.device = device_;
    std::ranges::copy(groups_, out.groups);
    out.bytes_filled = bytes_filled_;
    return out;
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
    out.dispatches = parts_.size();
    out.operations = operations_.size();
    if (!command_) return {};
    WYE_ASSIGN(const wye_command_info info, command_->info());
    out.native = info.native;
    out.recordings = info.recordings;
    return {};
}

}  // namespace wye::exec
