// SPDX-License-Identifier: Apache-2.0
#include "lower/lower.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "lower/analysis/ranges.hpp"
#include "lower/c/lower.hpp"
#include "lower/c/spelling.hpp"
#include "lower/passes/native_functions.hpp"
#include "lower/passes/strict.hpp"
#include "lower/spirv/lower.hpp"
#include "program/analysis/analysis.hpp"
#include "program/wire/encode.hpp"

namespace wye::lower {
namespace {

// Encodes the program so that older plugins can read it: without hints, and with the default math
// set. Neither changes a result, since all math functions are expanded.
Result<std::vector<std::byte>> encode_for_plugins(const ir::Program& program) {
    if (ir::least_minor(program) == 0 && program.math_set == WYE_PROGRAM_MATH_SET)
        return ir::encode(program, ir::Notes::Drop);
    ir::Program plain = program;
    plain.math_set = WYE_PROGRAM_MATH_SET;
    for (ir::Buffer& buffer : plain.buffers) buffer.hints = {};
    return ir::encode(plain, ir::Notes::Drop);
}

// Makes the artifact for plugins that run the wire form of the program itself. Declares every slot,
// in the same order as for native variants (plan/variant_artifact.hpp).
Result<Artifact> lower_wire(const ir::Program& program, const TargetFacts& facts,
                            const Options& options) {
    Artifact artifact;
    artifact.format = WYE_FORMAT_PROGRAM;
    artifact.entry = "main";
    WYE_ASSIGN(artifact.code, encode_for_plugins(program));
    artifact.workgroup = options.workgroup.value_or(program.workgroup);
    WYE_ASSIGN(artifact.subgroup, subgroup_width(program, facts, options));
    for (const ir::Buffer& buffer : program.buffers) {
        if (buffer.shared()) {
            artifact.shared_bytes += static_cast<std::uint32_t>(buffer.count * buffer.type.bytes());
            continue;
        }
        const std::uint32_t access = ir::role_writable(buffer.role) ? 3 : 1;
        artifact.slots.push_back({WYE_SLOT_BUFFER, artifact.binding_count++, 0, access, 0, {}});
    }
    for (std::uint32_t b = 0; b < artifact.binding_count; ++b)
        artifact.slots.push_back({WYE_SLOT_LENGTH, b, 0, 0, 0, {}});
    artifact.params_size = ir::param_layout(program.params).size;
    if (!program.params.empty()) artifact.slots.push_back({WYE_SLOT_PARAMS, 0, 0, 0, 0, {}});
    if (options.folded_grid) artifact.slots.push_back({WYE_SLOT_GRID, 0, 0, 0, 0, {}});
    artifact.uses_trap = ir::analyse(program).uses_trap;
    if (artifact.uses_trap) artifact.slots.push_back({WYE_SLOT_TRAP, 0, 0, 0, 0, {}});
    return artifact;
}

// A cheap test that spares most programs the full analysis.
bool may_use_subgroups(const ir::Program& program) {
    const auto names_one = [](const ir::Expr& e) {
        return ir::op_subgroup(e.op) ||
               (e.op == ir::Op::BUILTIN && e.imm >= WYE_BUILTIN_SUBGROUP_SIZE);
    };
    const auto some = [&](const ir::Code& code) {
        return std::ranges::any_of(code.exprs, names_one);
    };
    return program.subgroup != 0 || some(program.main) ||
           std::ranges::any_of(program.functions, some, &ir::Function::code);
}

}  // namespace

Result<std::uint32_t> subgroup_width(const ir::Program& program, const TargetFacts& facts,
                                     const Options& options) {
    if (!may_use_subgroups(program) || !ir::analyse(program).uses_subgroup) return std::uint32_t{0};
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
    return Error(
        Code::UNSUPPORTED,
        fmt::format("no subgroup size of this device fits program `{}` with workgroups of {} "
                    "invocations",
                    program.name, invocations),
        "Fix: make the workgroup size a multiple of one of its subgroup sizes", program.name);
}

Preconditions preconditions(const ir::Program& program, std::array<std::uint32_t, 3> workgroup,
                            NativeSet natives) {
    if (!uses_math(program, natives)) return Ranges(program, workgroup).preconditions();
    const auto expanded = expand_math(program, natives);
    return expanded.ok() ? Ranges(*expanded, workgroup).preconditions() : Preconditions{};
}

namespace {

using Write = Result<Artifact> (*)(const ir::Program&, const TargetFacts&, const Options&);

Result<Artifact> write_opencl_c(const ir::Program& program, const TargetFacts& facts,
                                const Options& options) {
    return lower_c(program, WYE_FORMAT_OPENCL_C, opencl_c(), facts, options);
}
Result<Artifact> write_cuda_c(const ir::Program& program, const TargetFacts& facts,
                              const Options& options) {
    return lower_c(program, WYE_FORMAT_CUDA_C, cuda_c(), facts, options);
}

// An artifact format, with the function that writes it. kFormats below lists them all.
struct Format {
    std::string_view name;
    // Writes a program in which all non-native math functions have been expanded. Null: a plugin's
    // compiler produces this format.
    Write write;
    bool push_constants = false;
    bool grid_barriers = false;
};
constexpr Format kFormats[] = {
    {WYE_FORMAT_PROGRAM, lower_wire, false, true},
    {WYE_FORMAT_OPENCL_C, write_opencl_c},
    {WYE_FORMAT_CUDA_C, write_cuda_c, false, true},
    {WYE_FORMAT_SPIRV, lower_spirv, true},
    {WYE_FORMAT_PTX, nullptr},
    {WYE_FORMAT_CUBIN, nullptr},
};

const Format* find_format(std::string_view name) {
    const auto* at = std::ranges::find(kFormats, name, &Format::name);
    return at == std::end(kFormats) ? nullptr : at;
}

Result<Artifact> lower_expanded(const ir::Program& program, std::string_view format,
                                const TargetFacts& facts, const Options& options) {
    const Format* known = find_format(format);
    if (known != nullptr && known->write != nullptr) return known->write(program, facts, options);
    return Error(Code::UNSUPPORTED, fmt::format("there is no lowering to `{}`", format),
                 fmt::format("Fix: choose one of `{}`", fmt::join(formats(), "`, `")),
                 std::string(format));
}

}  // namespace

std::vector<std::string_view> formats() {
    std::vector<std::string_view> out;
    for (const Format& format : kFormats)
        if (format.write != nullptr) out.push_back(format.name);
    return out;
}

std::vector<std::string_view> compiled_formats() {
    std::vector<std::string_view> out;
    for (const Format& format : kFormats)
        if (format.write == nullptr) out.push_back(format.name);
    return out;
}

bool uses_push_constants(std::string_view format) {
    const Format* known = find_format(format);
    return known != nullptr && known->push_constants;
}

bool has_grid_barriers(std::string_view format) {
    const Format* known = find_format(format);
    return known != nullptr && known->grid_barriers;
}

Result<Artifact> lower(const ir::Program& program, std::string_view format,
                       const TargetFacts& facts, const Options& options) {
    Options chosen = options;
    chosen.natives |= choose_natives(program, format, options.ulp_budget);
    const auto finish = [&](const ir::Program& from) {
        auto artifact = lower_expanded(from, format, facts, chosen);
        if (artifact.ok()) artifact->natives = chosen.natives;
        return artifact;
    };
    if (!expands_for(format, program, chosen.natives)) return finish(program);
    WYE_ASSIGN(const ir::Program expanded, expand_for(format, facts, program, chosen.natives));
    return finish(expanded);
}

}  // namespace wye::lower
