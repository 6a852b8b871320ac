// SPDX-License-Identifier: Apache-2.0
//
// Computes the number of workgroups: from the request's grid, else from its element count, else
// from the program's grid clause. Refuses a request without any of these. A grid in a buffer stays
// unknown.
#include <fmt/format.h>

#include "plan/admit.hpp"

namespace wye::plan {
namespace {

constexpr std::uint64_t kMaxCount = kMostInGrid;

std::uint64_t groups_for(std::uint64_t elements, std::uint32_t workgroup) {
    return elements / workgroup + (elements % workgroup != 0 ? 1 : 0);
}

Result<void> wanted_counts(const ProgramPlan& plan, const Request& request, const Lengths& lengths,
                           const Count3& workgroup, std::uint64_t (&counts)[3]) {
    const ir::Program& program = *plan.program;
    if (request.has_grid) {
        for (std::size_t axis = 0; axis < 3; ++axis) counts[axis] = request.grid[axis];
        return {};
    }
    if (request.has_elements) {
        counts[0] = groups_for(request.elements, workgroup[0]);
        return {};
    }
    if (program.grid.kind == WYE_GRID_NONE)
        return Error(
            Code::INVALID_ARGUMENT,
            fmt::format("the number of workgroups of program `{}` is not given", program.name),
            "Fix: give the request a grid or an element count, or the program a `grid` "
            "clause",
            program.name);
    const std::span<const std::uint64_t> known(lengths, program.buffers.size());
    for (std::size_t axis = 0; axis < program.grid.axes.size(); ++axis) {
        auto size = ir::evaluate_size(program.grid.axes[axis], program, request.params, known,
                                      plan.grid_names[axis]);
        if (!size.ok()) return std::move(size).error();
        counts[axis] =
            program.grid.kind == WYE_GRID_ELEMENTS ? groups_for(*size, workgroup[axis]) : *size;
    }
    return {};
}

Result<void> admit_grid_buffer(const ProgramPlan& plan, const Request& request, Launch& out) {
    out.indirect = true;
    out.grid_offset = request.grid_offset;
    out.groups = {0, 0, 0};
    out.empty = false;
    if (request.grid_offset % 4 != 0)
        return Error(Code::INVALID_ARGUMENT,
                     fmt::format("the grid of `{}` is at offset {} of its buffer, which is not a "
                                 "multiple of 4",
                                 plan.program->name, request.grid_offset),
                     "Fix: put its three u32 at a multiple of 4", "grid_offset");
    if (request.sizes_only && request.grid_buffer == 0) return {};
    if (request.grid_buffer_size >= kGridBufferBytes &&
        request.grid_offset <= request.grid_buffer_size - kGridBufferBytes)
        return {};
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("the grid of `{}` is {} bytes at offset {} of a buffer of {} bytes",
                             plan.program->name, kGridBufferBytes, request.grid_offset,
                             request.grid_buffer_size),
                 "Fix: keep its three u32 inside the buffer", "grid_offset");
}

}  // namespace

Result<void> admit_grid(const ProgramPlan& plan, const Request& request, const Lengths& lengths,
                        Launch& out) {
    if (request.indirect) return admit_grid_buffer(plan, request, out);
    out.indirect = false;
    std::uint64_t counts[3] = {1, 1, 1};
    WYE_TRY(wanted_counts(plan, request, lengths, out.workgroup, counts));
    out.empty = counts[0] == 0 || counts[1] == 0 || counts[2] == 0;
    std::uint64_t total = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (counts[axis] > kMaxCount / out.workgroup[axis])
            return Error(Code::LIMIT_EXCEEDED,
                         fmt::format("axis {} of the launch has {} workgroups of {}, more than "
                                     "{} invocations",
                                     "xyz"[axis], counts[axis], out.workgroup[axis], kMaxCount),
                         "Fix: use another axis as well, or let each invocation do more",
                         plan.program->name);
        out.groups[axis] = static_cast<std::uint32_t>(counts[axis]);
        // Both factors are below 2^32.
        if (!out.empty) total *= counts[axis];
        if (total > kMaxCount)
            return Error(Code::LIMIT_EXCEEDED,
                         fmt::format("the launch has {}x{}x{} workgroups, more than {} in all",
                                     counts[0], counts[1], counts[2], kMaxCount),
                         "Fix: use larger workgroups, or let each invocation do more",
                         plan.program->name);
    }
    return {};
}

}  // namespace wye::plan
