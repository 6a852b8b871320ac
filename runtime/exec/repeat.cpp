// SPDX-License-Identifier: Apache-2.0
#include "exec/repeat.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "exec/bind.hpp"
#include "plan/admit.hpp"

namespace wye::exec {
namespace {

RequestHead head_of(const wye_dispatch_desc& d) {
    return {d.program,
            d.device,
            {d.flags, d.grid[0], d.grid[1], d.grid[2], d.workgroup[0], d.workgroup[1],
             d.workgroup[2], d.fixpoint_iterations},
            {d.elements, d.argument_count, d.param_count, d.timeout_ns, d.max_output_bytes},
            d.ulp_budget,
            d.reserved};
}

template <typename T>
bool same(const T* a, const T* b, std::uint64_t count) {
    static_assert(std::has_unique_object_representations_v<T>);
    return count == 0 || std::memcmp(a, b, count * sizeof(T)) == 0;
}

bool keepable(const wye_dispatch_desc& desc, const plan::Launch& launch, const Batch& batch) {
    if (desc.timeout_ns != 0 || batch.traps || launch.empty) return false;
    if (desc.argument_count > Repeat::kArguments || desc.param_count > Repeat::kParams)
        return false;
    if (batch.launches().size() != batch.all.size() || batch.all.size() > Repeat::kOperations)
        return false;
    return std::all_of(desc.arguments, desc.arguments + desc.argument_count,
                       [](const wye_argument& a) { return a.kind == WYE_ARGUMENT_RESIDENT; });
}

}  // namespace

std::unique_ptr<Repeat>& Repeats::place(const wye_dispatch_desc& desc) {
    std::uint64_t sum = desc.program;  // handles differ in their low bits
    const std::uint64_t count = std::min<std::uint64_t>(desc.argument_count, Repeat::kArguments);
    for (std::uint64_t i = 0; i < count; ++i) sum = sum * 5 + desc.arguments[i].buffer;
    return kept_[static_cast<std::size_t>(sum % kKept)];
}

const Repeat* Repeats::find(const wye_dispatch_desc& desc, const plan::ProgramPlan& plan) {
    if (desc.arguments == nullptr || (desc.params == nullptr && desc.param_count != 0))
        return nullptr;
    std::unique_ptr<Repeat>& kept = place(desc);
    if (!kept || head_of(desc) != kept->head ||
        !same(kept->arguments.data(), desc.arguments, desc.argument_count))
        return nullptr;
    if (same(kept->params.data(), desc.params, desc.param_count)) return kept.get();
    if (plan.params_decide_sizes) return nullptr;
    if (!plan::pack_params(plan, {desc.params, desc.param_count}, kept->block.data()).ok()) {
        kept.reset();  // its block is neither the old nor the new one
        return nullptr;
    }
    std::copy_n(desc.params, desc.param_count, kept->params.data());
    return kept.get();
}

void Repeats::keep(const wye_dispatch_desc& desc, const plan::Launch& launch, const Batch& batch,
                   std::uint32_t variant) {
    if (!keepable(desc, launch, batch)) return;
    std::unique_ptr<Repeat>& kept = place(desc);
    if (!kept) kept.reset(new (std::nothrow) Repeat());
    if (!kept) return;  // the request ran all the same
    Repeat& out = *kept;
    out.head = head_of(desc);
    std::copy_n(desc.arguments, desc.argument_count, out.arguments.data());
    std::copy_n(desc.params, desc.param_count, out.params.data());
    std::ranges::transform(std::span(desc.arguments, desc.argument_count), out.buffers.begin(),
                           &wye_argument::buffer);
    out.groups = launch.groups;
    out.variant = variant;
    out.bytes_filled = batch.bytes_filled;
    std::memcpy(out.block.data(), launch.params, launch.params_size);
    out.operation_count = batch.all.size();
    std::ranges::copy(batch.all, out.operations.begin());
    for (wye_operation& operation : std::span(out.operations).first(out.operation_count)) {
        if (operation.kind != WYE_OPERATION_DISPATCH) continue;
        wye_dispatch_op& dispatch = operation.u.dispatch;
        std::copy_n(dispatch.bindings, launch.buffer_count, out.bindings.data());
        dispatch.bindings = out.bindings.data();
        dispatch.params = out.block.data();
    }
}

}  // namespace wye::exec
