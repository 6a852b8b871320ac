// SPDX-License-Identifier: Apache-2.0
#include "plan/variant_artifact.hpp"

#include <fmt/format.h>

namespace wye::plan {

Result<lower::Artifact> variant_artifact(const ProgramPlan& plan, std::uint32_t variant,
                                         const Count3& workgroup) {
    const ir::Program& program = *plan.program;
    const ir::Variant& source = program.variants[variant];
    const bool pushed = lower::uses_push_constants(source.format);
    lower::Artifact out;
    out.format = source.format;
    out.code = source.bytes;
    out.entry = source.entry;
    out.workgroup = workgroup;
    out.subgroup = program.subgroup;
    out.params_size = plan.params.size;
    out.binding_count = static_cast<std::uint32_t>(plan.bindings.arguments.size());
    for (std::uint32_t i = 0; i < out.binding_count; ++i) {
        const Binding& binding = plan.bindings.bindings[plan.bindings.arguments[i]];
        if (pushed && binding.binding != i)
            return Error(Code::UNSUPPORTED,
                         fmt::format("variant `{}` ({}) of program `{}`: buffer `{}` has binding "
                                     "{}, but is argument {}",
                                     source.entry, source.format, program.name, binding.name,
                                     binding.binding, i),
                         "Fix: number the buffers 0, 1, 2, ... and `shared` arrays after them",
                         binding.name);
        out.slots.push_back(
            {WYE_SLOT_BUFFER, i, 0, ir::role_writable(binding.role) ? 3U : 1U, 0, {}});
    }
    std::uint32_t offset = 0;
    for (std::uint32_t i = 0; i < out.binding_count; ++i, offset += 8)
        out.slots.push_back({WYE_SLOT_LENGTH, i, pushed ? offset : 0, 0, 0, {}});
    if (!program.params.empty())
        out.slots.push_back({WYE_SLOT_PARAMS, 0, pushed ? offset : 0, 0, 0, {}});
    return out;
}

}  // namespace wye::plan
