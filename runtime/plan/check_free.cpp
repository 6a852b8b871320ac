// SPDX-License-Identifier: Apache-2.0
#include "plan/check_free.hpp"

#include <algorithm>
#include <cstring>

namespace wye::plan {

bool check_free(const ProgramPlan& plan, const Launch& launch,
                const lower::Preconditions& preconditions) {
    const ir::Program& program = *plan.program;
    if (preconditions.empty() || launch.empty || launch.has_override) return false;
    std::array<std::uint64_t, WYE_LIMIT_PARAMS> params;
    std::array<std::uint64_t, WYE_LIMIT_BUFFERS> lengths;
    if (program.params.size() > params.size() || program.buffers.size() > lengths.size())
        return false;
    for (std::size_t p = 0; p < program.params.size(); ++p) {
        params[p] = 0;
        std::memcpy(&params[p], launch.params + plan.params.offsets[p],
                    program.params[p].type.bytes());
    }
    for (std::size_t b = 0; b < program.buffers.size(); ++b) lengths[b] = program.buffers[b].count;
    for (const BoundBuffer& bound : launch.bound()) lengths[bound.buffer_index] = bound.elements;
    return preconditions.hold({std::span(params).first(program.params.size()),
                               std::span(lengths).first(program.buffers.size()), launch.groups,
                               launch.workgroup});
}

}  // namespace wye::plan
