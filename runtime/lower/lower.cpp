// SPDX-License-Identifier: Apache-2.0
#include "lower/lower.hpp"

#include <span>

#include "lower/analysis/ranges.hpp"
#include "lower/c/spelling.hpp"
#include "lower/c/walk.hpp"
#include "lower/passes/native_functions.hpp"
#include "lower/passes/strict.hpp"
#include "lower/spirv/lower.hpp"
#include "program/analysis/analysis.hpp"
#include "program/wire/encode.hpp"

namespace wye::lower {
namespace {

// A plugin that runs the program itself gets everything a launch has, in the order of variants.
Result<Artifact> lower_wire(const ir::Program& program, const TargetFacts& facts,
                            const Options& options) {
    Artifact artifact;
    artifact.format = WYE_FORMAT_PROGRAM;
    artifact.entry = "main";
    WYE_ASSIGN(artifact.code, ir::encode(program, ir::Notes::Drop));
    artifact.workgroup = options.workgroup.value_or(program.workgroup);
    WYE_ASSIGN(artifact.subgroup, subgroup_width(program, facts, options));
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

Result<std::uint32_t> subgroup_width(const ir::Program& program, const TargetFacts& facts,
                                     const Options& options) {
    if (!ir::analyse(program).uses_subgroup) return std::uint32_t{0};
    const auto& size = options.workgroup.value_or(program.workgroup);
    const std::uint32_t invocations = size[0] * size[1] * size[2];
    constexpr std::uint32_t kAll[] = {4, 8, 16, 32, 64, 128};
    std::span<const std::uint32_t> sizes = facts.subgroup_sizes;
    if (sizes.empty()) sizes = kAll;
    std::uint32_t best = 0;
    for (const std::uint32_t width : sizes) {
        const bool wanted = program.subgroup == 0 || width == program.subgroup;
        if (wanted && width != 0 && invocations % width == 0 && best != 32) best = width;
    }
    if (best != 0) return best;
    return Error(Code::UNSUPPORTED,
                 "no subgroup size of this device fits program `" + program.name +
                     "` with workgroups of " + std::to_string(invocations) + " invocations",
                 "Fix: make the workgroup size a multiple of one of its subgroup sizes",
                 program.name);
}

Preconditions preconditions(const ir::Program& program, std::array<std::uint32_t, 3> workgroup,
                            NativeSet natives) {
    if (!uses_math(program, natives)) return Ranges(program, workgroup).preconditions();
    const auto expanded = expand_math(program, natives);
    return expanded.ok() ? Ranges(*expanded, workgroup).preconditions() : Preconditions{};
}

std::vector<std::string_view> formats() {
    return {WYE_FORMAT_PROGRAM, WYE_FORMAT_OPENCL_C, WYE_FORMAT_CUDA_C, WYE_FORMAT_SPIRV};
}

namespace {

// Without math functions but those that become native.
Result<Artifact> lower_expanded(const ir::Program& program, std::string_view format,
                                const TargetFacts& facts, const Options& options) {
    if (format == WYE_FORMAT_PROGRAM) return lower_wire(program, facts, options);
    if (format == WYE_FORMAT_OPENCL_C) return lower_c(program, format, opencl_c(), facts, options);
    if (format == WYE_FORMAT_CUDA_C) return lower_c(program, format, cuda_c(), facts, options);
    if (format == WYE_FORMAT_SPIRV) return lower_spirv(program, facts, options);
    std::string known;
    for (const std::string_view name : formats())
        known += (known.empty() ? "`" : ", `") + std::string(name) + "`";
    return Error(Code::UNSUPPORTED, "there is no lowering to `" + std::string(format) + "`",
                 "Fix: choose one of " + known, std::string(format));
}

}  // namespace

Result<Artifact> lower(const ir::Program& program, std::string_view format,
                       const TargetFacts& facts, const Options& options) {
    Options chosen = options;
    chosen.natives |= choose_natives(program, format, options.ulp_budget);
    const auto finish = [&](const ir::Program& from) {
        auto artifact = lower_expanded(from, format, facts, chosen);
        if (artifact.ok()) artifact->natives = chosen.natives;
        return artifact;
    };
    if (!uses_math(program, chosen.natives)) return finish(program);
    WYE_ASSIGN(const ir::Program expanded, expand_math(program, chosen.natives));
    return finish(expanded);
}

}  // namespace wye::lower
