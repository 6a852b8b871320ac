// SPDX-License-Identifier: Apache-2.0
#include "lower/spirv/lower.hpp"

#include <fmt/core.h>

#include <cstring>

#include "lower/spirv/writer.hpp"

namespace wye::lower {
namespace {

constexpr std::string_view kMain = "main";
// The maximum id bound of a module that every driver must accept (SPIR-V, "Universal Limits").
constexpr Id kMaxBound = 0x3fffff;
constexpr std::size_t kMaxWords = std::size_t{1} << 23U;  // 32 MiB

// Requests the float-control modes that the facts call for.
void float_modes(SpirvContext& context) {
    using spv::Capability;
    using spv::ExecutionMode;
    constexpr std::string_view kExtension = "SPV_KHR_float_controls";
    const TargetFacts& facts = context.facts;
    SpirvModule& module = context.module;
    const auto ask = [&](bool wanted, Capability capability, ExecutionMode mode, unsigned bits) {
        if (!wanted || !module.has_float(bits)) return;
        module.capability(capability, kExtension);
        module.execution_mode(mode, {bits});
    };
    ask(facts.f32_denorm_mode && !facts.keeps_f32_denormals, Capability::DenormPreserve,
        ExecutionMode::DenormPreserve, 32);
    ask(facts.f32_sign_nan_mode, Capability::SignedZeroInfNanPreserve,
        ExecutionMode::SignedZeroInfNanPreserve, 32);
    ask(facts.f64_sign_nan_mode, Capability::SignedZeroInfNanPreserve,
        ExecutionMode::SignedZeroInfNanPreserve, 64);
    ask(facts.f32_rte_mode, Capability::RoundingModeRTE, ExecutionMode::RoundingModeRTE, 32);
    ask(facts.f64_rte_mode, Capability::RoundingModeRTE, ExecutionMode::RoundingModeRTE, 64);
}

Error too_large(const ir::Program& program, const std::string& what) {
    return Error(Code::LIMIT_EXCEEDED,
                 fmt::format("program `{}` becomes a SPIR-V module of {}", program.name, what),
                 "Fix: use the `cpu` device, or split the program", program.name);
}

}  // namespace

Result<Artifact> lower_spirv(const ir::Program& program, const TargetFacts& device,
                             const Options& options) {
    TargetFacts facts = device;
    facts.quirks = device.quirks.for_format(WYE_FORMAT_SPIRV);
    if (options.folded_grid && !facts.int64)
        return Error(Code::LIMIT_EXCEEDED,
                     fmt::format("program `{}` is launched with more workgroups than the device's "
                                 "max_workgroups; splitting the launch needs 64-bit integers, "
                                 "which the device lacks",
                                 program.name),
                     "Fix: launch fewer workgroups, or use another device", program.name);
    WYE_ASSIGN(const std::uint32_t subgroup, subgroup_width(program, facts, options));
    SpirvContext context(program, facts, options, subgroup);
    SpirvModule& module = context.module;
    for (std::uint32_t f = 0; f < program.functions.size(); ++f) {
        if (context.usage.functions[f]) (void)spirv_function(context, context.source, f);
        if (module.bound() > kMaxBound)
            return too_large(program, fmt::format("more than {} ids", kMaxBound));
    }
    const Id main = module.fresh();
    module.name(main, kMain);
    module.add_function(SpirvWriter(context, context.source, ir::kNone).main(main));
    if (auto refusal = context.refusal()) return *std::move(refusal);
    float_modes(context);
    auto local_size = context.workgroup;
    if (subgroup != 0) local_size = {context.invocations(), 1, 1};
    const Words words = module.finish(main, kMain, local_size, context.interface());
    if (words[3] > kMaxBound)
        return too_large(program, fmt::format("{} ids, more than {}", words[3], kMaxBound));
    if (words.size() > kMaxWords)
        return too_large(program, fmt::format("{} words, more than {}", words.size(), kMaxWords));

    Artifact out;
    out.format = WYE_FORMAT_SPIRV;
    out.entry = kMain;
    out.slots = context.slots();
    out.binding_count = context.binding_count();
    out.workgroup = context.workgroup;
    out.subgroup = subgroup;
    out.shared_bytes = context.source.form.shared_bytes();
    out.params_size = ir::param_layout(program.params).size;
    out.uses_trap = context.usage.trap || context.watches_loops();
    out.code.reserve(words.size() * 4);
    for (const std::uint32_t word : words)  // little endian on every host
        for (unsigned k = 0; k < 4; ++k)
            out.code.push_back(static_cast<std::byte>(word >> (k * 8) & 0xffU));
    return out;
}

}  // namespace wye::lower
