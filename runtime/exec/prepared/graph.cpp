// SPDX-License-Identifier: Apache-2.0
#include "exec/prepared/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "exec/prepared/pending_launch.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::exec {
namespace {

Error about(Error error, std::size_t step, const std::string& label) {
    error.message = fmt::format("step {} of graph `{}`: {}", step, label, error.message);
    return error;
}

// The device of a graph: the device that the graph names, else the device of the first step that
// determines one, else a device chosen for the program of the first dispatch.
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
    WYE_ASSIGN(PreparedRef made,
               PreparedWork::begin(device.as<DeviceSession>(), chosen.routed,
                                   sdk::from_abi(desc.label), PreparedWork::Use::Often));
    PreparedWork& work = *made;
    auto out = std::make_shared<Graph>(std::move(made));
    const sdk::Lock lock(out->rebinding_);
    work.reserve(desc.step_count);
    out->steps_.reserve(work.operations_.capacity());
    for (std::size_t i = 0; i < desc.step_count; ++i) {
        const wye_graph_step& step = desc.steps[i];
        wye_dispatch_desc dispatch{};
        if (step.dispatch != nullptr) dispatch = *step.dispatch;
        if (dispatch.device == 0 && dispatch.pipeline == 0) dispatch.device = chosen.routed.device;
        auto added = step.dispatch != nullptr ? work.add(context, dispatch)
                                              : work.add(context, *step.transfer);
        if (!added.ok()) return about(std::move(added).error(), i, work.label());
        if (step.dispatch != nullptr)
            out->steps_.emplace_back(dispatch);
        else
            out->steps_.emplace_back(*step.transfer);
    }
    WYE_TRY(work.finish());
    return out;
}

PreparedRef Graph::work() const {
    const sdk::Lock lock(session_.queues().mutex);
    work_->refer_held();
    return PreparedRef::adopt(work_.get());
}

// If the graph is rebound between `work()` and PreparedWork::run, that function returns false, and
// the loop tries again with the new work.
Result<void> Graph::run(const Context& context, const wye_graph_run_desc& run,
                        Clock::time_point start, wye_report* report) {
    for (;;) {
        WYE_ASSIGN(const bool ran, work()->run(context, run, nullptr, start, report));
        if (ran) return {};
    }
}

Result<WorkPtr<Pending>> Graph::submit(const Context& context, registry::Pin graph,
                                       const wye_graph_run_desc& run, Clock::time_point start,
                                       bool watched) {
    for (;;) {
        WYE_ASSIGN(auto pending, PendingLaunch::submit(context, graph.as<Graph>().work(), graph,
                                                       run, start, watched));
        if (pending) return pending;
    }
}

// ---- Rebinding ----------------------------------------------------------------------------

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
        if (work_->places_.find(recorded, work_->handles_) == Places::kNone)
            return Error(Code::NOT_FOUND,
                         fmt::format("rebinding {} of graph `{}`: no step names the buffer {:#x}",
                                     i, work_->label(), recorded),
                         "Fix: name a buffer that the steps use now", work_->label());
        const auto before = changes.first(i);
        if (std::ranges::find(before, recorded, &wye_graph_rebinding::recorded) != before.end())
            return Error(
                Code::DUPLICATE,
                fmt::format("rebinding {} of graph `{}`: the buffer {:#x} was named before", i,
                            work_->label(), recorded),
                "Fix: name each buffer once", work_->label());
    }
    return {};
}

// Refuses a rebinding while an execution is in flight, since the execution uses the work.
Result<void> Graph::check_idle(QueuePool& queues) const {
    const auto& newest = work_->newest_;
    bool runs = work_->growing_;
    for (const auto& one : work_->instances_) runs = runs || one->sending || one->words_taken;
    for (std::uint32_t i = 0; i < newest.size(); ++i) runs = runs || queues.runs(i, newest[i]);
    if (!runs) return {};
    return Error(
        Code::DEVICE_BUSY, fmt::format("graph `{}` has an execution in flight", work_->label()),
        "Fix: wait for its end (wye_pending_wait) before giving it other buffers", work_->label());
}

Result<PreparedRef> Graph::record_again(Context& context, std::span<const Step> steps) {
    const PreparedWork& before = *work_;  // only a rebinding replaces it
    std::vector<std::uint64_t> params;
    {
        const sdk::Lock lock(session_.queues().mutex);
        params = before.words_;
    }
    WYE_ASSIGN(auto out, PreparedWork::begin(session_, before.routed_, before.label_,
                                             PreparedWork::Use::Often));
    auto part = before.parts_.begin();
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Step& step = steps[i];
        auto added = [&]() -> Result<void> {
            if (!step.dispatches) return out->add(context, step.transfer);
            wye_dispatch_desc desc = step.dispatch;
            desc.arguments = step.arguments.data();
            desc.params = params.data() + part->first_word;
            desc.profile = sdk::to_abi(step.profile);
            const registry::HandleTable& handles = context.handles();
            WYE_ASSIGN(registry::Pin program, handles.pin_again(*part->program));
            ++part;
            WYE_ASSIGN(Target target, Target::find_again(handles, desc, std::move(program)));
            return out->add(context, std::move(target));
        }();
        if (!added.ok()) return about(std::move(added).error(), i, before.label_);
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
    WYE_ASSIGN(PreparedRef made, record_again(context, steps));
    {
        const sdk::Lock lock(session_.queues().mutex);
        WYE_TRY(check_idle(session_.queues()));
        work_->replaced_ = true;
        std::swap(work_, made);
    }
    steps_ = std::move(steps);
    return {};
}

Result<void> Graph::describe(wye_graph_info& out) const {
    const sdk::Lock lock(session_.queues().mutex);
    const PreparedWork& work = *work_;
    work.routed_.write(out);
    out.dispatches = work.parts_.size();
    out.operations = work.operation_count_;
    out.transfers = work.transfers_;
    out.native = work.report_.graph == WYE_GRAPH_NATIVE ? 1 : 0;
    for (const auto& one : work.instances_) {
        for (const registry::NativeCommand& command : one->commands) {
            WYE_ASSIGN(const wye_command_info info, command.info());
            out.recordings += info.recordings;
        }
    }
    return {};
}

}  // namespace wye::exec
