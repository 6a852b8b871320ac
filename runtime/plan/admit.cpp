// SPDX-License-Identifier: Apache-2.0
#include "plan/admit.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace wye::plan {
namespace {

bool meet(std::uint64_t a, std::uint64_t a_size, std::uint64_t b, std::uint64_t b_size) {
    return a_size != 0 && b_size != 0 && a < b + b_size && b < a + a_size;
}

bool resident_overlap(const BoundBuffer& a, const BoundBuffer& b) {
    return a.kind == ArgumentKind::Resident && b.kind == ArgumentKind::Resident &&
           a.handle == b.handle && meet(a.offset, a.bytes, b.offset, b.bytes);
}

// Host inputs are read before anything is delivered, so only storage can collide.
bool storage_overlap(const BoundBuffer& a, const BoundBuffer& b) {
    return a.output != nullptr && b.output != nullptr &&
           meet(reinterpret_cast<std::uintptr_t>(a.output), a.read_size,
                reinterpret_cast<std::uintptr_t>(b.output), b.read_size);
}

}  // namespace

Result<void> admit_overlap(const ProgramPlan& plan, const Launch& launch) {
    const std::span<const BoundBuffer> bound = launch.bound();
    for (std::size_t i = 0; i < bound.size(); ++i) {
        for (std::size_t j = i + 1; j < bound.size(); ++j) {
            const bool written = bound[i].writable || bound[j].writable;
            if (!(written && resident_overlap(bound[i], bound[j])) &&
                !storage_overlap(bound[i], bound[j]))
                continue;
            const ir::Buffer& a = plan.program->buffers[bound[i].buffer_index];
            const ir::Buffer& b = plan.program->buffers[bound[j].buffer_index];
            return Error(Code::INVALID_ARGUMENT,
                         fmt::format("`{}` (binding {}) and `{}` (binding {}) are bound to "
                                     "overlapping memory, and the program may write it",
                                     a.name, a.binding, b.name, b.binding),
                         "Fix: bind separate ranges, or use one input_output buffer", b.name);
        }
    }
    return {};
}

namespace {

bool starts_at_zero(const ir::Buffer& buffer, const BoundBuffer& bound) {
    return buffer.role == ir::Role::OUTPUT && !buffer.unset && bound.bytes != 0;
}

}  // namespace

void zero_all_outputs(const ProgramPlan& plan, Launch& out) {
    for (std::uint32_t i = 0; i < out.buffer_count; ++i)
        out.buffers[i].zero =
            starts_at_zero(plan.program->buffers[out.buffers[i].buffer_index], out.buffers[i]);
}

void plan_zero_fill(const ProgramPlan& plan, const Lengths& lengths, Launch& out) {
    const std::uint64_t invocations =
        out.empty ? 0 : std::uint64_t{out.groups[0]} * out.workgroup[0];
    for (std::uint32_t i = 0; i < out.buffer_count; ++i) {
        BoundBuffer& bound = out.buffers[i];
        const ir::Buffer& buffer = plan.program->buffers[bound.buffer_index];
        bound.zero = starts_at_zero(buffer, bound);
        const ir::ZeroFill::Output& facts = plan.zero_fill.outputs[bound.buffer_index];
        if (!bound.zero || !facts.candidate) continue;
        // Skipped when the launch stores every element: enough invocations, no guard in the way.
        bound.zero = invocations < bound.elements ||
                     std::ranges::any_of(facts.guards, [&](std::uint16_t guard) {
                         return lengths[guard] < bound.elements;
                     });
    }
}

Result<void> admit(const ProgramPlan& plan, const Request& request, Launch& out) {
    Lengths lengths;
    WYE_TRY(admit_options(plan, request, out));
    WYE_TRY(admit_params(plan, request, out));
    WYE_TRY(admit_arguments(plan, request, out));
    WYE_TRY(admit_sizes(plan, request, lengths, out));
    WYE_TRY(admit_grid(plan, request, lengths, out));
    WYE_TRY(admit_overlap(plan, out));
    plan_zero_fill(plan, lengths, out);
    return {};
}

}  // namespace wye::plan
