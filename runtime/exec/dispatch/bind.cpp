// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/bind.hpp"

#include <algorithm>

namespace wye::exec {
namespace {

// Fills start and end at multiples of the pattern; most buffers are whole words.
std::uint32_t zero_pattern(std::uint64_t offset, std::uint64_t size) {
    return (offset | size) % 4 == 0 ? 4U : 1U;
}

wye_operation zero(wye_buffer_object* buffer, std::uint64_t offset, std::uint64_t size) {
    wye_operation operation;
    operation.kind = WYE_OPERATION_FILL;
    operation.flags = 0;
    operation.u.fill = {buffer, offset, size, 0, zero_pattern(offset, size), 0};
    return operation;
}

wye_operation transfer(std::uint32_t kind, wye_buffer_object* buffer, std::uint64_t offset,
                       std::uint64_t size, const void* source, void* target) {
    wye_operation operation;
    operation.kind = kind;
    operation.flags = 0;
    operation.u.transfer = {buffer, offset, size, source, target};
    return operation;
}

Result<void> bind_buffers(const plan::ProgramPlan& plan, const plan::Launch& launch,
                          const Residents& residents, QueueLease& lease,
                          std::vector<wye_binding>& bindings) {
    for (std::uint32_t i = 0; i < launch.buffer_count; ++i) {
        const plan::BoundBuffer& bound = launch.buffers[i];
        if (bound.kind == plan::ArgumentKind::Resident) {
            bindings.push_back(
                {residents.object(bound.argument), bound.offset, bound.bytes, bound.elements});
            continue;
        }
        const plan::Binding& binding = plan.bindings.bindings[plan.bindings.arguments[i]];
        WYE_ASSIGN(wye_buffer_object * buffer,
                   lease.scratch(bound.bytes, binding.preferred_alignment));
        bindings.push_back({buffer, 0, bound.bytes, bound.elements});
    }
    return {};
}

void add_dispatches(const plan::Launch& launch, const plan::Split& split, const Step& step,
                    wye_buffer_object* trap, const std::vector<wye_binding>& bindings,
                    std::vector<wye_operation>& operations) {
    for (std::uint32_t i = 0; i < split.boxes; ++i) {
        const plan::Split::Box box = split[i];
        wye_operation& operation = operations.emplace_back();
        operation.kind = WYE_OPERATION_DISPATCH;
        wye_dispatch_op& dispatch = operation.u.dispatch;
        dispatch.program = step.prepared->native.object();
        dispatch.bindings = bindings.data();
        dispatch.params = step.params;
        std::ranges::copy(box.groups, dispatch.groups);
        std::ranges::copy(box.offset, dispatch.group_offset);
        std::ranges::copy(launch.groups, dispatch.logical_groups);
        if (step.prepared->uses_trap) dispatch.trap = {trap, 0, 8, 1};
    }
}

}  // namespace

Result<Batch> bind(const plan::ProgramPlan& plan, const plan::Launch& launch,
                   const plan::Split& split, std::span<const Step> steps,
                   const Residents& residents, QueueLease& lease) {
    std::vector<wye_operation>& operations = lease.operations();
    std::vector<wye_binding>& bindings = lease.bindings();
    WYE_TRY(bind_buffers(plan, launch, residents, lease, bindings));

    Batch out;
    for (std::uint32_t i = 0; i < launch.buffer_count; ++i) {
        const plan::BoundBuffer& bound = launch.buffers[i];
        if (bound.input == nullptr || bound.bytes == 0) continue;
        operations.push_back(transfer(WYE_OPERATION_UPLOAD, bindings[i].buffer, 0, bound.bytes,
                                      bound.input, nullptr));
        out.bytes_uploaded += bound.bytes;
    }
    out.launch = operations.size();
    for (std::uint32_t i = 0; i < launch.buffer_count; ++i) {
        const plan::BoundBuffer& bound = launch.buffers[i];
        if (!bound.zero) continue;
        operations.push_back(zero(bindings[i].buffer, bindings[i].offset, bound.bytes));
        out.bytes_filled += bound.bytes;
    }
    wye_buffer_object* trap = nullptr;
    out.traps = std::ranges::any_of(steps, [](const Step& s) { return s.prepared->uses_trap; });
    if (out.traps) {
        WYE_ASSIGN(trap, lease.trap_buffer());
        operations.push_back(zero(trap, 0, 8));
    }
    for (const Step& step : steps) add_dispatches(launch, split, step, trap, bindings, operations);
    if (out.traps)
        operations.push_back(
            transfer(WYE_OPERATION_DOWNLOAD, trap, 0, 8, nullptr, lease.trap_record()));
    out.read_back = operations.size();
    for (std::uint32_t i = 0; i < launch.buffer_count; ++i) {
        const plan::BoundBuffer& bound = launch.buffers[i];
        if (bound.output == nullptr || bound.read_size == 0) continue;
        operations.push_back(transfer(WYE_OPERATION_DOWNLOAD, bindings[i].buffer, bound.read_offset,
                                      bound.read_size, nullptr, bound.output));
        out.bytes_downloaded += bound.read_size;
    }
    out.all = operations;
    return out;
}

}  // namespace wye::exec
