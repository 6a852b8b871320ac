// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/repeat.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>

#include "exec/dispatch/bind.hpp"
#include "plan/check_free.hpp"

namespace wye::exec {
namespace {

// The members from `first` up to `end`, by their offsets.
template <std::size_t first, std::size_t end>
bool same_members(const wye_dispatch_desc& a, const wye_dispatch_desc& b) {
    return std::memcmp(reinterpret_cast<const std::byte*>(&a) + first,
                       reinterpret_cast<const std::byte*>(&b) + first, end - first) == 0;
}

// All that admission reads of a description, but for what its pointers lead to. Header, label and
// profile say nothing of the work.
bool same_request(const wye_dispatch_desc& a, const wye_dispatch_desc& b) {
    using D = wye_dispatch_desc;
    // No padding in between.
    static_assert(offsetof(D, arguments) - offsetof(D, program) == 56);
    static_assert(offsetof(D, label) - offsetof(D, timeout_ns) == 24);
    return same_members<offsetof(D, program), offsetof(D, arguments)>(a, b) &&
           a.argument_count == b.argument_count && a.param_count == b.param_count &&
           same_members<offsetof(D, timeout_ns), offsetof(D, label)>(a, b);
}

// One by one: a constant size needs no call.
template <typename T>
bool same(const T* a, const T* b, std::uint64_t count) {
    static_assert(std::has_unique_object_representations_v<T>);
    for (std::uint64_t i = 0; i < count; ++i)
        if (std::memcmp(a + i, b + i, sizeof(T)) != 0) return false;
    return true;
}

bool keepable(const wye_dispatch_desc& desc, const plan::Launch& launch, const Batch& batch) {
    if (!Repeats::may_have(desc) || batch.traps || launch.empty) return false;
    if (batch.launches().size() != batch.all.size() || batch.all.size() > Repeat::kOperations)
        return false;
    return std::all_of(desc.arguments, desc.arguments + desc.argument_count,
                       [](const wye_argument& a) { return a.kind == WYE_ARGUMENT_RESIDENT; });
}

// With these parameters too, the launch is what it was: check-free, or not.
bool same_form(const Repeat& kept, const wye_dispatch_desc& desc) {
    if (kept.asked == nullptr) return true;
    const lower::LaunchFacts facts{
        {desc.params, desc.param_count}, kept.lengths, kept.groups, kept.workgroup};
    return kept.asked->hold(facts) == (kept.check_free != 0);
}

}  // namespace

[[gnu::hot]] std::unique_ptr<Repeat>& Repeats::place(const wye_dispatch_desc& desc) {
    std::uint64_t sum = desc.program;  // handles differ in their low bits
    for (std::uint64_t i = 0; i < desc.argument_count; ++i)
        sum = sum * 5 + desc.arguments[i].buffer;
    return kept_[static_cast<std::size_t>(sum % kKept)];
}

[[gnu::hot]] const Repeat* Repeats::find(const wye_dispatch_desc& desc,
                                         const plan::ProgramPlan& plan) {
    std::unique_ptr<Repeat>& kept = place(desc);
    if (!kept || !same_request(desc, kept->request) ||
        !same(kept->arguments.data(), desc.arguments, desc.argument_count))
        return nullptr;
    if (same(kept->params.data(), desc.params, desc.param_count)) return kept.get();
    if (plan.params_decide_sizes || !same_form(*kept, desc)) return nullptr;
    if (!plan::pack_params(plan, {desc.params, desc.param_count}, kept->block.data()).ok()) {
        kept.reset();  // its block is neither the old nor the new one
        return nullptr;
    }
    std::copy_n(desc.params, desc.param_count, kept->params.data());
    return kept.get();
}

void Repeats::keep(const wye_dispatch_desc& desc, const plan::ProgramPlan& plan,
                   const plan::Launch& launch, const Batch& batch, const wye_report& report,
                   const lower::Preconditions* asked) {
    if (!keepable(desc, launch, batch)) return;
    std::unique_ptr<Repeat>& kept = place(desc);
    if (!kept) kept.reset(new (std::nothrow) Repeat());
    if (!kept) return;  // the request ran all the same
    Repeat& out = *kept;
    out.request = desc;
    std::copy_n(desc.arguments, desc.argument_count, out.arguments.data());
    std::copy_n(desc.params, desc.param_count, out.params.data());
    std::ranges::transform(std::span(desc.arguments, desc.argument_count), out.buffers.begin(),
                           &wye_argument::buffer);
    out.groups = launch.groups;
    out.variant = report.variant;
    out.natives = report.native_functions;
    out.check_free = report.check_free;
    out.asked = asked != nullptr && asked->read_params() ? asked : nullptr;
    if (out.asked != nullptr) plan::launch_lengths(plan, launch, out.lengths);
    out.workgroup = launch.workgroup;
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
