// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/operations.hpp"

#include <algorithm>

#include "exec/device/buffer.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::exec {
namespace {

// The pattern size of a fill: 4 if the range consists of whole words, as for most buffers, else 1.
std::uint32_t zero_pattern(std::uint64_t offset, std::uint64_t size) {
    return (offset | size) % 4 == 0 ? 4U : 1U;
}

void zero(wye_operation& out, wye_buffer_object* buffer, std::uint64_t offset, std::uint64_t size) {
    out.kind = WYE_OPERATION_FILL;
    out.u.fill = {buffer, offset, size, 0, zero_pattern(offset, size), 0};
}

// Binds the request's buffers, and scratch memory for host arguments and for the ranges in
// `moves.moved`.
Result<void> bind_memory(const plan::ProgramPlan& plan, const plan::Launch& launch,
                         const BoundLaunch& moves, const Residents& residents,
                         DeviceSession& session, Workspace& workspace) {
    std::vector<wye_binding>& bindings = workspace.bindings;
    for (std::uint32_t i = 0; i < launch.buffer_count; ++i) {
        const plan::BoundBuffer& bound = launch.buffers[i];
        if (bound.kind == plan::ArgumentKind::Resident && !moves.moved[i]) {
            bindings.push_back(sdk::binding_of(residents.object(bound.argument), bound.offset,
                                               bound.bytes, bound.elements));
            continue;
        }
        const plan::Binding& binding = plan.bindings.bindings[plan.bindings.arguments[i]];
        auto buffer = session.scratch(workspace, bound.bytes, binding.preferred_alignment);
        // The preferred alignment is a hint, so if it is refused, try again with the required
        // alignment.
        if (!buffer.ok() && buffer.error().code == Code::UNSUPPORTED &&
            binding.preferred_alignment > binding.required_alignment)
            buffer = session.scratch(workspace, bound.bytes, binding.required_alignment);
        if (!buffer.ok()) return std::move(buffer).error();
        bindings.push_back(sdk::binding_of(*buffer, 0, bound.bytes, bound.elements));
    }
    return {};
}

// Writes bound operations, one by one, to the workspace's list.
class Writer {
  public:
    Writer(const plan::Launch& launch, const BoundLaunch& bound, const Kernels& kernels,
           const Residents& residents, const std::vector<wye_binding>& bindings,
           wye_buffer_object* trap, std::vector<wye_operation>& out)
        : launch_(launch),
          bound_(bound),
          kernels_(kernels),
          residents_(residents),
          bindings_(bindings),
          trap_(trap),
          out_(out) {}

    void write(std::size_t first, std::size_t end) {
        for (std::size_t i = first; i < end; ++i)
            write(bound_.operations[i], out_.emplace_back(sdk::new_operation(0)));
    }
    // Appends the operations of this range, which `write` has just written, `count` more times.
    void write_again(std::size_t first, std::size_t end, std::uint32_t count) {
        if (end - first != 1) {
            for (; count != 0; --count) write(first, end);
            return;
        }
        wye_operation operation = out_.back();
        operation.u.dispatch.again = 1;
        out_.insert(out_.end(), count, operation);
    }

  private:
    void write(const BoundOperation& from, wye_operation& to) const {
        using Kind = BoundOperation::Kind;
        if (from.kind == Kind::Dispatch) return dispatch(from, to);
        const wye_binding& binding = bindings_[from.index];
        if (from.kind == Kind::CopyIn || from.kind == Kind::CopyOut)
            return copy(from, binding.buffer, to);
        const std::uint64_t offset = binding.offset + from.offset;
        if (from.kind == Kind::Fill) return zero(to, binding.buffer, offset, from.size);
        to.kind = from.kind == Kind::Upload ? WYE_OPERATION_UPLOAD : WYE_OPERATION_DOWNLOAD;
        to.u.transfer = {binding.buffer, offset, from.size, from.source, from.target};
    }

    void copy(const BoundOperation& from, wye_buffer_object* scratch, wye_operation& to) const {
        const plan::BoundBuffer& bound = launch_.buffers[from.index];
        wye_buffer_object* const resident = residents_.object(bound.argument);
        to.kind = WYE_OPERATION_COPY;
        wye_copy_op& op = to.u.copy;
        const bool in = from.kind == BoundOperation::Kind::CopyIn;
        op.source = in ? resident : scratch;
        op.target = in ? scratch : resident;
        op.source_offset = in ? bound.offset : 0;
        op.target_offset = in ? 0 : bound.offset;
        op.size = from.size;
    }

    void dispatch(const BoundOperation& from, wye_operation& to) const {
        const KernelLaunch& kernel_launch = kernels_.launches()[from.index];
        const CompiledProgram& compiled = *kernels_.kernels()[kernel_launch.kernel].compiled;
        to.kind = WYE_OPERATION_DISPATCH;
        wye_dispatch_op& op = to.u.dispatch;
        op.program = compiled.native.object();
        op.bindings = bindings_.data();
        op.binding_count = static_cast<std::uint32_t>(bindings_.size());
        op.params = kernel_launch.params;
        op.params_size = kernel_launch.params_size;
        if (compiled.uses_trap) op.trap = sdk::binding_of(trap_, 0, kTrapBytes, 1);
        if (launch_.indirect) {
            op.flags = WYE_LAUNCH_INDIRECT;
            op.indirect = sdk::binding_of(trap_, kGridPlace, plan::kGridBufferBytes, 3);
            return;
        }
        const plan::Split::Box box = bound_.split[from.box];
        std::ranges::copy(box.groups, op.groups);
        std::ranges::copy(box.offset, op.group_offset);
        std::ranges::copy(launch_.groups, op.logical_groups);
        if (kernels_.at_once()) op.flags = WYE_LAUNCH_COOPERATIVE;
    }

    const plan::Launch& launch_;
    const BoundLaunch& bound_;
    const Kernels& kernels_;
    const Residents& residents_;
    const std::vector<wye_binding>& bindings_;
    wye_buffer_object* trap_;
    std::vector<wye_operation>& out_;
};

Result<void> check_grid(const plan::Launch& launch, const GridCheck& check,
                        const Residents& residents, const DeviceSession& session,
                        std::uint32_t number, wye_buffer_object* trap, Workspace& workspace) {
    const route::Limits& limits = session.limits();
    CheckedGrid grid{residents.grid().as<BufferObject>().native.object(), launch.grid_offset,
                     launch.most_groups(), number, limits.buffer_alignment};
    for (std::size_t axis = 0; axis < 3; ++axis)
        grid.most[axis] = std::min(grid.most[axis], limits.max_groups[axis]);
    return write_grid_check(check, grid, trap, workspace.grid_check,
                            workspace.operations.emplace_back());
}

}  // namespace

void copy_registered(Operations& operations, Workspace& workspace,
                     RegisteredTransfers& registered) {
    if (registered.empty()) return;
    std::vector<wye_operation> list;
    list.reserve(operations.all.size());
    std::size_t launch = 0, read_back = 0;
    for (std::size_t i = 0; i <= operations.all.size(); ++i) {
        if (i == operations.launch) launch = list.size();
        if (i == operations.read_back) read_back = list.size();
        if (i != operations.all.size()) registered.append(operations.all[i], list);
    }
    workspace.operations.swap(list);
    operations.all = workspace.operations;
    operations.launch = launch;
    operations.read_back = read_back;
}

Result<Operations> write_operations(const plan::ProgramPlan& plan, const plan::Launch& launch,
                                    const BoundLaunch& bound, const Kernels& kernels,
                                    const Residents& residents, DeviceSession& session,
                                    Workspace& workspace, std::uint32_t number) {
    std::vector<wye_operation>& list = workspace.operations;
    WYE_TRY(bind_memory(plan, launch, bound, residents, session, workspace));
    Operations out;
    out.by_iteration = kernels.traps();
    out.traps = out.by_iteration || launch.indirect;
    out.moves = bound.moved.any();
    wye_buffer_object* trap = nullptr;
    if (out.traps) {
        WYE_ASSIGN(trap, session.trap_buffer(workspace));
    }
    Writer writer(launch, bound, kernels, residents, workspace.bindings, trap, list);
    writer.write(0, bound.fills);
    out.launch = list.size();
    writer.write(bound.fills, bound.dispatches);
    out.fills = list.size() - out.launch;
    if (out.traps) zero(list.emplace_back(sdk::new_operation(0)), trap, 0, kTrapBytes);
    if (launch.indirect) {
        WYE_TRY(
            check_grid(launch, kernels.grid_check, residents, session, number, trap, workspace));
        // All iterations have the same grid, so the grid is checked once. A next iteration is
        // submitted only if no trap word is set, so the trap words need not be cleared again.
        out.fills = list.size() - out.launch;
    }
    // If kernels can trap, the host checks for traps after each iteration, since a trap ends the
    // iterations. So only one iteration is written here.
    writer.write(bound.dispatches, bound.copies_out);
    if (!out.by_iteration)
        writer.write_again(bound.dispatches, bound.copies_out, launch.iterations - 1);
    writer.write(bound.copies_out, bound.read_backs);
    if (out.traps) {
        wye_operation& read = list.emplace_back(sdk::new_operation(WYE_OPERATION_DOWNLOAD));
        read.u.transfer = {trap, 0, launch.indirect ? kCheckedBytes : kTrapBytes, nullptr,
                           workspace.trap_words};
    }
    out.read_back = list.size();
    writer.write(bound.read_backs, bound.operations.size());
    out.all = list;
    return out;
}

}  // namespace wye::exec
