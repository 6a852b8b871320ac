// SPDX-License-Identifier: Apache-2.0
#include "lower/lower.hpp"

#include "lower/c_walk.hpp"
#include "lower/spelling.hpp"
#include "program/analysis.hpp"
#include "program/encode.hpp"

namespace wye::lower {
namespace {

// A plugin that runs the program itself gets everything a launch has, in the order of variants.
Result<Artifact> lower_wire(const ir::Program& program, const Options& options) {
    Artifact artifact;
    artifact.format = WYE_FORMAT_PROGRAM;
    artifact.entry = "main";
    WYE_ASSIGN(artifact.code, ir::encode(program, ir::Notes::Drop));
    artifact.workgroup = options.workgroup.value_or(program.workgroup);
    artifact.subgroup = program.subgroup;
    for (const ir::Buffer& buffer : program.buffers) {
        if (buffer.shared()) {
            artifact.shared_bytes += static_cast<std::uint32_t>(buffer.count * buffer.type.bytes());
            continue;
        }
        const std::uint32_t access = ir::role_writable(buffer.role) ? 3 : 1;
        artifact.slots.push_back({WYE_SLOT_BUFFER, artifact.binding_count++, 0, access});
    }
    for (std::uint32_t b = 0; b < artifact.binding_count; ++b)
        artifact.slots.push_back({WYE_SLOT_LENGTH, b, 0, 0});
    artifact.params_size = ir::param_layout(program.params).size;
    if (!program.params.empty()) artifact.slots.push_back({WYE_SLOT_PARAMS, 0, 0, 0});
    if (options.folded_grid) artifact.slots.push_back({WYE_SLOT_GRID, 0, 0, 0});
    artifact.uses_trap = ir::analyse(program).uses_trap;
    if (artifact.uses_trap) artifact.slots.push_back({WYE_SLOT_TRAP, 0, 0, 0});
    return artifact;
}

}  // namespace

std::vector<std::string_view> formats() { return {WYE_FORMAT_PROGRAM, WYE_FORMAT_OPENCL_C}; }

Result<Artifact> lower(const ir::Program& program, std::string_view format,
                       const TargetFacts& facts, const Options& options) {
    if (format == WYE_FORMAT_PROGRAM) return lower_wire(program, options);
    if (format == WYE_FORMAT_OPENCL_C) return lower_c(program, format, opencl_c(), facts, options);
    std::string known;
    for (const std::string_view name : formats())
        known += (known.empty() ? "`" : ", `") + std::string(name) + "`";
    return Error(Code::UNSUPPORTED, "there is no lowering to `" + std::string(format) + "`",
                 "Fix: choose one of " + known, std::string(format));
}

}  // namespace wye::lower
