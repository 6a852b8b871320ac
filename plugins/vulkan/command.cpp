// SPDX-License-Identifier: Apache-2.0
#include "vulkan/command.hpp"

#include <algorithm>
#include <cstring>

#include "vulkan/commands/fill.hpp"
#include "vulkan/queue.hpp"

namespace wye::vulkan {

Result<std::unique_ptr<Command>> Command::create(Device& device, const wye_command_desc& desc) {
    WYE_ASSIGN(sdk::CommandList list,
               sdk::CommandList::of(
                   Plugin::kPlugin, desc,
                   [](wye_program_object* program) { return program_of(program).sizes(); },
                   Queue::kLaunchFlags));
    std::unique_ptr<Command> out(new Command(device, std::move(list)));
    for (const wye_operation& op : std::span(desc.operations, desc.operation_count))
        out->steps_.push_back(step_of(op));
    out->slot_count_ = desc.slot_count;
    out->params_.resize(desc.params_size);
    out->plan();
    WYE_ASSIGN(out->recording_, Recording::create(device, Lane::Compute));
    return out;
}

void Command::describe(wye_command_info& out) const {
    const sdk::Lock lock(mutex_);
    out.native = verdict_.native;
    out.late_params = verdict_.late_params;
    out.late_slots = verdict_.late_slots;
    out.late_grid = verdict_.late_grid;
    out.most_pending = verdict_.most_pending;
    out.recordings = recordings_.load();
}

Result<void> Command::update(std::uint64_t index, const wye_operation& operation) {
    WYE_TRY(last_use.wait());
    Step step = step_of(operation);
    WYE_TRY(list_.update(index, operation));
    recorded_ = planned_ = false;
    std::swap(steps_[index], step);
    plan();
    return {};
}

Result<void> Command::record(const wye_execute_op& op) {
    WYE_TRY(last_use.wait());
    if (!planned_) plan();  // after an update that ran out of memory
    const bool serves = recorded_ && (rewrites_buffers_ || gives_same_buffers(op));
    recorded_ = false;
    for (std::size_t s = 0; s < buffers_.size(); ++s) buffers_[s] = given(op.slots[s]);
    for (const Part& part : parts_)
        std::memcpy(params_.data() + part.offset,
                    static_cast<const std::byte*>(op.params) + part.offset, part.size);
    (void)list_.resolve(op);
    if (serves) {
        WYE_ASSIGN(recorded_, rewrite());
    }
    if (!recorded_) WYE_TRY(record_all());
    return {};
}

Command::Step Command::step_of(const wye_operation& described) {
    Step out;
    if (described.kind == WYE_OPERATION_COPY) {
        const wye_copy_op& op = described.u.copy;
        out.late_buffers = op.source == nullptr || op.target == nullptr;
    } else if (described.kind == WYE_OPERATION_FILL) {
        out.late_buffers = described.u.fill.target == nullptr;
    } else if (described.kind == WYE_OPERATION_DISPATCH) {
        const wye_dispatch_op& op = described.u.dispatch;
        const Program& program = program_of(op.program);
        out.late_buffers = std::any_of(op.bindings, op.bindings + program.binding_count(),
                                       [](const wye_binding& b) { return b.buffer == nullptr; });
        out.late_indirect = (op.flags & WYE_LAUNCH_INDIRECT) != 0 && op.indirect.buffer == nullptr;
        out.late_buffers = out.late_buffers || out.late_indirect;
        out.late_params = op.late_size != 0;
        out.late_grid = (op.flags & WYE_LAUNCH_LATE_GRID) != 0;
        out.indirect = out.late_grid && (!program.has_grid() || program.block_in_buffer());
    }
    return out;
}

bool Command::gives_same_params(const wye_execute_op& op) const {
    for (const Part& part : parts_)
        if (std::memcmp(params_.data() + part.offset,
                        static_cast<const std::byte*>(op.params) + part.offset, part.size) != 0)
            return false;
    return true;
}

void Command::plan() {
    wye_command_info verdict{};
    verdict.native = 1;
    verdict.late_params = verdict.late_slots = verdict.late_grid = WYE_LATE_ARGUMENT;
    verdict.most_pending = list_.is_fixed() ? 0 : 1;  // late values: one pending execution
    rewrites_buffers_ = device_.info.rewrites_descriptors();
    parts_.clear();
    light_ = !steps_.empty();
    for (std::size_t n = 0; n < steps_.size(); ++n) {
        const Step& step = steps_[n];
        light_ = light_ && list_.operations()[n].kind != WYE_OPERATION_COPY;
        if (!step.late()) continue;
        if (list_.operations()[n].kind != WYE_OPERATION_DISPATCH) {
            rewrites_buffers_ = false;
            continue;
        }
        rewrites_buffers_ = rewrites_buffers_ && !step.late_indirect;
        const wye_dispatch_op& op = list_.operations()[n].u.dispatch;
        const bool in_memory = program_of(op.program).block_in_buffer();
        const auto worse = [](std::uint32_t& now, std::uint32_t way) { now = std::max(now, way); };
        if (step.late_params) {
            parts_.push_back({op.late_offset, op.late_size});
            worse(verdict.late_params, in_memory ? WYE_LATE_MEMORY : WYE_LATE_RECORD);
        }
        if (step.late_grid) {
            parts_.push_back({op.grid_offset, 9 * sizeof(std::uint32_t)});
            worse(verdict.late_grid, step.indirect ? WYE_LATE_MEMORY : WYE_LATE_RECORD);
        }
    }
    const bool late_buffers = list_.has_late_slots();
    if (late_buffers) verdict.late_slots = rewrites_buffers_ ? WYE_LATE_PATCH : WYE_LATE_RECORD;
    buffers_.assign(late_buffers ? slot_count_ : 0, Given());
    planned_ = true;
    const sdk::Lock lock(mutex_);
    verdict_ = verdict;
}

Result<void> Command::place() {
    const VkPhysicalDeviceLimits& limits = device_.info.properties.core.limits;
    const std::uint64_t alignment =
        std::max(limits.minStorageBufferOffsetAlignment, kPatternAlignment);
    std::uint64_t end = 0;
    const auto take = [&](StagedRange& range, std::uint64_t bytes) {
        range.offset = end;
        end += (bytes + alignment - 1) / alignment * alignment;
    };
    for (std::size_t n = 0; n < steps_.size(); ++n) {
        const wye_operation& op = list_.operations()[n];
        Step& step = steps_[n];
        if (op.kind == WYE_OPERATION_FILL && op.u.fill.size != 0)
            take(step.memory.block, parts_of(op.u.fill).staged_bytes);
        if (op.kind != WYE_OPERATION_DISPATCH) continue;
        const Program& program = program_of(op.u.dispatch.program);
        if (program.block_in_buffer()) take(step.memory.block, program.block_bytes());
        if (step.indirect) take(step.memory.groups, sizeof step.groups);
    }
    if (end == 0) return {};
    if (!memory_ || memory_->size < end) {
        WYE_ASSIGN(memory_, mapped_buffer(device_, end, list_.label(), Placement::Upload));
    }
    for (Step& step : steps_) {
        step.memory.block.buffer = memory_.get();
        step.memory.groups.buffer = step.indirect ? memory_.get() : nullptr;
    }
    return {};
}

Result<void> Command::record_all() {
    WYE_TRY(place());
    WYE_TRY(recording_->begin(true));
    for (std::size_t n = 0; n < steps_.size(); ++n)
        WYE_TRY(record(steps_[n], list_.operations()[n]));
    WYE_TRY(recording_->end());
    recordings_.fetch_add(1);
    recorded_ = true;
    return {};
}

Result<void> Command::record(Step& step, const wye_operation& operation) {
    if (operation.kind == WYE_OPERATION_COPY) {
        const wye_copy_op& op = operation.u.copy;
        if (op.size != 0) recording_->copy(buffer_of(op.source), buffer_of(op.target), op);
        return {};
    }
    if (operation.kind == WYE_OPERATION_FILL) {
        const wye_fill_op& op = operation.u.fill;
        if (op.size != 0) recording_->fill(buffer_of(op.target), op, step.memory.block);
        return {};
    }
    const wye_dispatch_op& op = operation.u.dispatch;
    const Program& program = program_of(op.program);
    step.memory.exchangeable = rewrites_buffers_ && step.late_buffers;
    WYE_TRY(recording_->dispatch(program, op, step.memory));
    step.set = recording_->descriptor_set();
    std::copy(std::begin(op.groups), std::end(op.groups), step.groups.begin());
    if (!step.late() || !program.block_in_push_constants()) return {};
    step.pushed.resize(program.block_bytes());
    program.fill_block(op, step.pushed.data());
    return {};
}

Result<bool> Command::rewrite() {
    for (std::size_t n = 0; n < steps_.size(); ++n) {
        const wye_operation& op = list_.operations()[n];
        if (op.kind != WYE_OPERATION_DISPATCH || !steps_[n].late()) continue;
        WYE_ASSIGN(const bool serves, rewrite(steps_[n], op.u.dispatch));
        if (!serves) return false;
    }
    return true;
}

Result<bool> Command::rewrite(const Step& step, const wye_dispatch_op& op) {
    const Program& program = program_of(op.program);
    WYE_TRY(program.check(op));
    if (program.block_in_push_constants()) {
        block_.resize(program.block_bytes());
        program.fill_block(op, block_.data());
        if (block_ != step.pushed) return false;
    } else if (program.block_in_buffer()) {
        program.fill_block(op, step.memory.block.bytes());
    }
    if (step.indirect)
        std::memcpy(step.memory.groups.bytes(), op.groups, sizeof op.groups);
    else if (!std::equal(step.groups.begin(), step.groups.end(), op.groups))
        return false;
    if (step.memory.exchangeable && step.set != VK_NULL_HANDLE)
        recording_->write(step.set, program, op, step.memory.block);
    return true;
}

}  // namespace wye::vulkan
