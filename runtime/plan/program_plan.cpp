// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "plan/launch.hpp"
#include "plan/phases.hpp"

namespace wye::plan {
namespace {

bool reads_param(const ir::SizeExpr& size) {
    return std::ranges::any_of(size, [](const ir::SizeNode& n) { return n.op == WYE_SIZE_PARAM; });
}

bool fill_reads_param(const ir::ZeroFill::Output& output) {
    const auto param = [](const ir::ZeroFill::Limit& limit) {
        return limit.from == ir::ZeroFill::Limit::From::Param;
    };
    return output.candidate && ((output.has_rows && param(output.pitch)) ||
                                std::ranges::any_of(output.column.below, param) ||
                                std::ranges::any_of(output.row.below, param));
}

}  // namespace

Result<ProgramPlan> plan_program(const ir::Program& program) {
    ProgramPlan out;
    out.program = &program;
    WYE_ASSIGN(out.bindings, binding_plan(program));
    out.params = ir::param_layout(program.params);
    out.params_bytes = out.params.size;
    out.analysis = ir::analyse(program);
    if (out.analysis.uses_grid_barrier) {
        WYE_ASSIGN(out.params_bytes, phase_params_bytes(program));
    }
    out.zero_fill = ir::zero_fill(program);
    out.zero_fill.outputs.resize(program.buffers.size());
    out.argument_of.fill(-1);
    for (std::size_t i = 0; i < out.bindings.arguments.size(); ++i) {
        const Binding& binding = out.bindings.bindings[out.bindings.arguments[i]];
        if (binding.binding >= out.argument_of.size() || i >= WYE_LIMIT_BUFFERS)
            return Error(Code::LIMIT_EXCEEDED,
                         fmt::format("`{}` has binding {}, above the largest, {}", binding.name,
                                     binding.binding, WYE_LIMIT_BUFFERS - 1),
                         "Fix: number the buffers from 0", binding.name);
        out.argument_of[binding.binding] = static_cast<std::int8_t>(i);
    }
    for (const ir::Buffer& buffer : program.buffers)
        out.count_names.push_back(fmt::format("the count of `{}`", buffer.name));
    for (std::size_t axis = 0; axis < 3; ++axis)
        out.grid_names[axis] =
            fmt::format("axis {} of the grid of `{}`", "xyz"[axis], program.name);
    out.params_decide_sizes =
        std::ranges::any_of(program.grid.axes, reads_param) ||
        std::ranges::any_of(program.buffers,
                            [](const ir::Buffer& b) { return reads_param(b.size); }) ||
        std::ranges::any_of(out.zero_fill.outputs, fill_reads_param);
    out.params_decide_verdict = out.analysis.doubts.empty() && out.analysis.assumes.read_params();
    return out;
}

}  // namespace wye::plan
