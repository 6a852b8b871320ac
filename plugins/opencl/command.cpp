// SPDX-License-Identifier: Apache-2.0
#include "opencl/command.hpp"

#include <cstring>

#include "opencl/queue.hpp"

namespace wye::opencl {

Result<std::unique_ptr<Command>> Command::create(Device&, const wye_command_desc& desc) {
    WYE_ASSIGN(sdk::CommandList list,
               sdk::CommandList::of(Plugin::kPlugin, desc, [](wye_program_object* program) {
                   return program_of(program).sizes();
               }));
    std::unique_ptr<Command> out(new Command(std::move(list)));
    out->nodes_.resize(desc.operation_count);
    for (std::uint64_t n = 0, first = 0; n < desc.operation_count; ++n) {
        if (n != 0 && out->is_repeated(n)) {
            out->nodes_[n].run = 0;
            ++out->nodes_[first].run;
        } else {
            WYE_TRY(out->prepare(n));
            first = n;
        }
    }
    return out;
}

void Command::describe(wye_command_info& out) const {
    out.late_params = out.late_slots = out.late_grid = WYE_LATE_ARGUMENT;
    out.bytes = list_.bytes();
}

Result<void> Command::update(std::uint64_t index, const wye_operation& operation) {
    WYE_TRY(split(index));
    if (index + 1 < nodes_.size()) WYE_TRY(split(index + 1));
    WYE_TRY(list_.update(index, operation));
    nodes_[index].set = false;
    enqueues_.reset();
    return {};
}

bool Command::is_repeated(std::uint64_t index) const {
    wye_operation now = list_.operations()[index], before = list_.operations()[index - 1];
    if (now.kind != WYE_OPERATION_DISPATCH || before.kind != WYE_OPERATION_DISPATCH ||
        now.u.dispatch.program != before.u.dispatch.program || list_.is_late(index) ||
        list_.is_late(index - 1))
        return false;
    wye_dispatch_op &a = now.u.dispatch, &b = before.u.dispatch;
    const sdk::ArgumentSizes sizes = program_of(a.program).sizes();
    if (std::memcmp(a.bindings, b.bindings, sizes.bindings * sizeof *a.bindings) != 0 ||
        std::memcmp(a.params, b.params, sizes.params) != 0)
        return false;
    a.bindings = b.bindings = nullptr;
    a.params = b.params = nullptr;
    return std::memcmp(&a, &b, sizeof a) == 0;
}

Result<void> Command::split(std::uint64_t index) {
    if (nodes_[index].run != 0) return {};
    std::uint64_t first = index;
    while (nodes_[first].run == 0) --first;
    WYE_TRY(prepare(index));
    nodes_[index].run = first + nodes_[first].run - index;
    nodes_[first].run = index - first;
    return {};
}

Result<void> Command::prepare(std::uint64_t index) {
    const wye_operation& operation = list_.operations()[index];
    if (operation.kind != WYE_OPERATION_DISPATCH) return {};
    WYE_ASSIGN(nodes_[index].kernel, program_of(operation.u.dispatch.program).make_kernel());
    return {};
}

Result<void> Command::set_and_launch(std::uint64_t index, const wye_dispatch_op& op,
                                     cl_command_queue queue, const Order& order) {
    Node& node = nodes_[index];
    Program& program = program_of(op.program);
    // Sub-buffers of late arguments; the driver retains them while the launch is queued.
    std::vector<MemoryHandle> ranges;
    node.ranges.clear();
    WYE_TRY(node.kernel.set(op, node.ranges));
    WYE_ASSIGN(node.range, program.range_of(op));
    node.set = !list_.is_late(index);
    if (!node.set) ranges = std::move(node.ranges);
    return program.enqueue(node.kernel, queue, node.range, order);
}

}  // namespace wye::opencl
