// SPDX-License-Identifier: Apache-2.0
#include "plan/admit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace wye::plan {
namespace {

bool meet(std::uint64_t a, std::uint64_t a_size, std::uint64_t b, std::uint64_t b_size) {
    return a_size != 0 && b_size != 0 && a < b + b_size && b < a + a_size;
}

bool resident_overlap(const BoundBuffer& a, const BoundBuffer& b) {
    return a.kind == ArgumentKind::Resident && b.kind == ArgumentKind::Resident &&
           a.handle == b.handle && meet(a.offset, a.bytes, b.offset, b.bytes);
}

// Whether the storage of two outputs overlaps. Inputs need no such check, since host inputs are
// read before outputs are written.
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
                                     "overlapping memory, and the program may write to that memory",
                                     a.name, a.binding, b.name, b.binding),
                         "Fix: bind separate ranges, or use one input_output buffer", b.name);
        }
    }
    return {};
}

bool starts_at_zero(const ProgramPlan& plan, const BoundBuffer& bound) {
    const ir::Buffer& buffer = plan.program->buffers[bound.buffer_index];
    return buffer.role == ir::Role::OUTPUT && !buffer.unset && bound.bytes != 0;
}

namespace {

std::uint64_t limit_of(const ProgramPlan& plan, const Lengths& lengths, const Launch& launch,
                       const ir::ZeroFill::Limit& limit) {
    using From = ir::ZeroFill::Limit::From;
    if (limit.from == From::Literal) return limit.value / limit.divided_by;
    if (limit.from == From::Length)
        return std::min<std::uint64_t>(lengths[limit.value], UINT32_MAX) / limit.divided_by;
    std::uint32_t value = 0;
    std::memcpy(&value, launch.params + plan.params.offsets[limit.value], sizeof value);
    return value / limit.divided_by;
}

// Returns the number n such that the invocations that store have, together, every value of the
// coordinate below n.
std::uint64_t reach(const ProgramPlan& plan, const Lengths& lengths, const Launch& launch,
                    const ir::ZeroFill::Coordinate& c) {
    const std::uint32_t size = launch.workgroup[c.local];
    if (launch.empty || (c.size != 0 && c.size != size)) return 0;
    std::uint64_t all = std::uint64_t{launch.groups[c.group]} * size;
    for (const ir::ZeroFill::Limit& limit : c.below)
        all = std::min(all, limit_of(plan, lengths, launch, limit));
    return all;
}

// Whether a launch stores all elements of an output. Element e is stored by the invocation with
// column e % pitch and row e / pitch.
bool stores_all(const ProgramPlan& plan, const Lengths& lengths, const Launch& launch,
                const ir::ZeroFill::Output& facts, std::uint64_t elements) {
    if (!facts.candidate || launch.indirect) return false;
    const std::uint64_t columns =
        facts.loop != 0 ? facts.loop : reach(plan, lengths, launch, facts.column);
    if (!facts.has_rows) return columns >= elements;
    const std::uint64_t pitch = limit_of(plan, lengths, launch, facts.pitch);
    if (pitch == 0 || elements > UINT32_MAX || columns < std::min(pitch, elements)) return false;
    return reach(plan, lengths, launch, facts.row) >= (elements + pitch - 1) / pitch;
}

}  // namespace

void plan_zero_fill(const ProgramPlan& plan, const Lengths& lengths, Launch& out) {
    for (std::uint32_t i = 0; i < out.buffer_count; ++i) {
        BoundBuffer& bound = out.buffers[i];
        const std::uint32_t buffer = bound.buffer_index;
        bound.zero =
            starts_at_zero(plan, bound) &&
            !stores_all(plan, lengths, out, plan.zero_fill.outputs[buffer], bound.elements);
    }
}

bool is_deterministic(const ProgramPlan& plan, std::span<const std::uint64_t> params,
                      std::span<const std::uint64_t> lengths, const Count3& groups,
                      const Count3& workgroup) {
    std::array<std::uint64_t, 3> invocations;
    for (std::size_t axis = 0; axis < 3; ++axis)
        invocations[axis] = std::uint64_t{groups[axis]} * workgroup[axis];
    const ir::Analysis& analysis = plan.analysis;
    return analysis.doubts.empty() && analysis.assumes.hold(params, lengths, invocations);
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
    out.deterministic =
        is_deterministic(plan, request.params, {lengths, plan.program->buffers.size()},
                         out.most_groups(), out.workgroup);
    return {};
}

}  // namespace wye::plan
