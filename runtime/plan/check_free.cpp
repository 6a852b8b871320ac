// SPDX-License-Identifier: Apache-2.0
#include "plan/check_free.hpp"

#include <algorithm>
#include <cstring>

namespace wye::plan {

void launch_lengths(const ProgramPlan& plan, const Launch& launch, Lengths& out) {
    const std::vector<ir::Buffer>& buffers = plan.program->buffers;
    for (std::size_t b = 0; b < buffers.size(); ++b) out[b] = buffers[b].count;
    for (const BoundBuffer& bound : launch.bound()) out[bound.buffer_index] = bound.elements;
}

bool check_free(const ProgramPlan& plan, const Launch& launch,
                const lower::Preconditions& preconditions) {
    const ir::Program& program = *plan.program;
    if (preconditions.empty() || launch.empty || launch.indirect || launch.has_override)
        return false;
    std::array<std::uint64_t, WYE_LIMIT_PARAMS> params;
    for (std::size_t p = 0; p < program.params.size(); ++p) {
        params[p] = 0;
        std::memcpy(&params[p], launch.params + plan.params.offsets[p],
                    program.params[p].type.bytes());
    }
    Lengths lengths;
    launch_lengths(plan, launch, lengths);
    return preconditions.hold({std::span(params).first(program.params.size()),
                               std::span(lengths).first(program.buffers.size()), launch.groups,
                               launch.workgroup});
}

}  // namespace wye::plan
