// SPDX-License-Identifier: Apache-2.0
#include "cuda/command.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cuda/buffer.hpp"
#include "cuda/queue.hpp"

namespace wye::cuda {
namespace {

bool has_late_buffer(const wye_operation& op) {
    if (op.kind == WYE_OPERATION_COPY)
        return op.u.copy.source == nullptr || op.u.copy.target == nullptr;
    return op.kind == WYE_OPERATION_FILL && op.u.fill.target == nullptr;
}

bool has_grid_barrier(const wye_operation& op) {
    return op.kind == WYE_OPERATION_DISPATCH &&
           program_of(op.u.dispatch.program).has_grid_barrier();
}

CUDA_MEMCPY3D copy_params(CUdeviceptr source, CUdeviceptr target, std::uint64_t size) {
    CUDA_MEMCPY3D out{};
    out.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    out.srcDevice = source;
    out.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    out.dstDevice = target;
    out.WidthInBytes = size;
    out.Height = 1;
    out.Depth = 1;
    return out;
}

}  // namespace

Result<std::unique_ptr<Command>> Command::create(Device& device, const wye_command_desc& desc) {
    WYE_ASSIGN(sdk::CommandList list,
               sdk::CommandList::of(
                   Plugin::kPlugin, desc,
                   [](wye_program_object* program) { return program_of(program).sizes(); },
                   Queue::kLaunchFlags));
    std::unique_ptr<Command> out(new Command(device, desc, std::move(list)));
    if (!out->list_.is_fixed()) return out;
    const Current current(out->context_);
    WYE_TRY(out->build(out->list_.operations()));
    return out;
}

Command::Command(Device& device, const wye_command_desc& desc, sdk::CommandList list)
    : device_(device),
      context_(device.context()),
      list_(std::move(list)),
      slot_count_(desc.slot_count),
      params_size_(desc.params_size) {
    const std::span operations(desc.operations, desc.operation_count);
    late_transfers_ = std::ranges::any_of(operations, has_late_buffer);
    last_slots_.resize(slot_count_);
    last_params_.resize(params_size_);
}

void Command::describe(wye_command_info& out) const {
    out.native = 1;
    out.late_params = out.late_grid = WYE_LATE_PATCH;
    out.late_slots = late_transfers_ ? WYE_LATE_RECORD : WYE_LATE_PATCH;
    out.bytes = list_.bytes();
    out.recordings = recordings_;
}

Result<void> Command::update(std::uint64_t index, const wye_operation& operation) {
    WYE_TRY(list_.update(index, operation));
    late_transfers_ = late_transfers_ || has_late_buffer(operation);
    arguments_.forget();
    exec_ = {};
    return {};
}

Result<void> Command::launch(CUstream stream, const wye_execute_op& execution) {
    if (!list_.is_fixed() || !exec_) WYE_TRY(adapt(execution));
    WYE_TRY(grid_barrier_.prepare(device_, stream));
    return device_.check(device_.driver.cuGraphLaunch(exec_.get(), stream), "cuGraphLaunch",
                         list_.label());
}

Result<void> Command::adapt(const wye_execute_op& execution) {
    if (exec_ && list_.has_only_late_params()) [[likely]] {
        if (!list_.set_params(execution.params)) return {};
    } else {
        if (is_last(execution) && exec_) return {};
        const std::span<const wye_operation> operations = list_.resolve(execution);
        if (!exec_ || late_transfers_ || !has_shape_of(operations)) return build(operations);
        arguments_.forget();
    }
    Result<void> patched = patch(list_.operations());
    // After a failure some nodes have the arguments of this execution and others do not.
    if (!patched.ok()) exec_ = {};
    return patched;
}

bool Command::is_last(const wye_execute_op& execution) {
    const auto* const params = static_cast<const std::byte*>(execution.params);
    bool same = std::exchange(has_last_, true);
    for (std::uint32_t n = 0; n < slot_count_; ++n) {
        const wye_binding& slot = execution.slots[n];
        const Given now{buffer_of(slot.buffer).memory() + slot.offset, slot.size, slot.elements};
        same = same && now == last_slots_[n];
        last_slots_[n] = now;
    }
    if (params_size_ == 0) return same;
    same = same && std::memcmp(last_params_.data(), params, params_size_) == 0;
    std::memcpy(last_params_.data(), params, params_size_);
    return same;
}

bool Command::has_shape_of(std::span<const wye_operation> operations) const {
    for (std::size_t n = 0; n < operations.size(); ++n)
        if (nodes_[n].empty != sdk::is_empty(operations[n])) return false;
    return true;
}

Result<void> Command::patch(std::span<const wye_operation> operations) {
    for (std::size_t n = 0; n < operations.size(); ++n) {
        if (nodes_[n].empty || !list_.is_late(n)) continue;
        const wye_dispatch_op& op = operations[n].u.dispatch;
        CUDA_KERNEL_NODE_PARAMS params{};
        WYE_TRY(program_of(op.program).node(op, grid_barrier_.words(n), arguments_, params));
        const CUresult status =
            device_.driver.cuGraphExecKernelNodeSetParams(exec_.get(), nodes_[n].last, &params);
        WYE_TRY(device_.check(status, "cuGraphExecKernelNodeSetParams", list_.label()));
    }
    return {};
}

Result<void> Command::build(std::span<const wye_operation> operations) {
    const Driver& driver = device_.driver;
    exec_ = {};
    GraphHandle graph;
    WYE_TRY(device_.check(driver.cuGraphCreate(graph.receive(context_), 0), "cuGraphCreate",
                          list_.label()));
    nodes_.assign(operations.size(), {});
    if (std::ranges::any_of(operations, has_grid_barrier))
        WYE_TRY(grid_barrier_.make(device_, operations.size()));
    std::span<const wye_edge> edges = list_.edges();
    std::vector<CUgraphNode> after;
    for (std::size_t n = 0; n < operations.size(); ++n) {
        after.clear();
        if (!list_.has_edges() && n != 0) after.push_back(nodes_[n - 1].last);
        for (; !edges.empty() && edges.front().after == n; edges = edges.subspan(1))
            after.push_back(nodes_[edges.front().before].last);
        WYE_TRY(add(graph.get(), operations[n], grid_barrier_.words(n), after, nodes_[n]));
    }
    const CUresult status = driver.cuGraphInstantiate(exec_.receive(context_), graph.get(), 0);
    WYE_TRY(device_.check(status, "cuGraphInstantiate", list_.label()));
    graph_ = std::move(graph);
    ++recordings_;
    return {};
}

// An operation without work becomes an empty node, which keeps the order of the other operations.
Result<void> Command::add(CUgraph graph, const wye_operation& operation, CUdeviceptr barrier,
                          std::span<const CUgraphNode> after, Nodes& out) const {
    const Driver& driver = device_.driver;
    out.empty = sdk::is_empty(operation);
    if (out.empty)
        return device_.check(
            driver.cuGraphAddEmptyNode(&out.last, graph, after.data(), after.size()),
            "cuGraphAddEmptyNode", list_.label());
    if (operation.kind == WYE_OPERATION_FILL) return add_fill(graph, operation.u.fill, after, out);
    if (operation.kind == WYE_OPERATION_COPY) {
        const wye_copy_op& op = operation.u.copy;
        const CUDA_MEMCPY3D params =
            copy_params(buffer_of(op.source).memory() + op.source_offset,
                        buffer_of(op.target).memory() + op.target_offset, op.size);
        return device_.check(driver.cuGraphAddMemcpyNode(&out.last, graph, after.data(),
                                                         after.size(), &params, context_.handle),
                             "cuGraphAddMemcpyNode", list_.label());
    }
    const wye_dispatch_op& op = operation.u.dispatch;
    Program::Arguments arguments;
    CUDA_KERNEL_NODE_PARAMS params{};
    WYE_TRY(program_of(op.program).node(op, barrier, arguments, params));
    WYE_TRY(device_.check(
        driver.cuGraphAddKernelNode(&out.last, graph, after.data(), after.size(), &params),
        "cuGraphAddKernelNode", list_.label()));
    if ((op.flags & WYE_LAUNCH_COOPERATIVE) == 0) return {};
    CUkernelNodeAttrValue value{};
    value.cooperative = 1;
    return device_.check(driver.cuGraphKernelNodeSetAttribute(
                             out.last, CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE, &value),
                         "cuGraphKernelNodeSetAttribute", list_.label());
}

// quirk cuda-fill-8: see Queue::fill_words.
Result<void> Command::add_fill(CUgraph graph, const wye_fill_op& op,
                               std::span<const CUgraphNode> after, Nodes& out) const {
    const Driver& driver = device_.driver;
    const CUdeviceptr target = buffer_of(op.target).memory() + op.offset;
    const auto low = static_cast<unsigned>(op.pattern);
    const auto high = static_cast<unsigned>(op.pattern >> 32U);
    const auto set = [&](CUdeviceptr at, unsigned value, unsigned bytes, std::uint64_t count,
                         std::span<const CUgraphNode> before) {
        CUDA_MEMSET_NODE_PARAMS params{};
        params.dst = at;
        params.value = value;
        params.elementSize = bytes;
        params.width = count;
        params.height = 1;
        return device_.check(driver.cuGraphAddMemsetNode(&out.last, graph, before.data(),
                                                         before.size(), &params, context_.handle),
                             "cuGraphAddMemsetNode", list_.label());
    };
    switch (op.pattern_size) {
        case 1:
            return set(target, low & 0xffU, 1, op.size, after);
        case 2:
            return set(target, low & 0xffffU, 2, op.size / 2, after);
        default:
            break;
    }
    if (op.pattern_size == 4 || low == high) return set(target, low, 4, op.size / 4, after);
    WYE_TRY(set(target, low, 4, 1, after));
    CUgraphNode before = out.last;
    WYE_TRY(set(target + 4, high, 4, 1, {&before, 1}));
    for (std::uint64_t filled = 8; filled < op.size; filled *= 2) {
        before = out.last;
        const CUDA_MEMCPY3D params =
            copy_params(target, target + filled, std::min(filled, op.size - filled));
        WYE_TRY(device_.check(
            driver.cuGraphAddMemcpyNode(&out.last, graph, &before, 1, &params, context_.handle),
            "cuGraphAddMemcpyNode", list_.label()));
    }
    return {};
}

}  // namespace wye::cuda
