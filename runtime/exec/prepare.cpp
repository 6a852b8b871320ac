// SPDX-License-Identifier: Apache-2.0
#include "exec/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "plan/variant.hpp"
#include "route/route.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::exec {

lower::TargetFacts target_facts(const registry::Facts& facts) {
    lower::TargetFacts out;
    out.native_f32_div = facts.has(WYE_FACT_KEY_NATIVE_F32_DIV);
    out.native_f32_sqrt = facts.has(WYE_FACT_KEY_NATIVE_F32_SQRT);
    out.native_f32_fma = facts.has(WYE_FACT_KEY_NATIVE_F32_FMA);
    out.native_f64_div = facts.has(WYE_FACT_KEY_NATIVE_F64_DIV);
    out.native_f64_sqrt = facts.has(WYE_FACT_KEY_NATIVE_F64_SQRT);
    out.native_f64_fma = facts.has(WYE_FACT_KEY_NATIVE_F64_FMA);
    out.folds_literal_zero = facts.has(WYE_FACT_KEY_FOLDS_LITERAL_ZERO);
    out.workgroup_loops = facts.text(WYE_FACT_KEY_DEVICE_KIND) == "cpu";
    out.f64 = facts.has(WYE_FACT_KEY_F64);
    out.keeps_f32_denormals = facts.has(WYE_FACT_KEY_KEEPS_F32_DENORMALS);
    out.f32_denorm_mode = facts.has(WYE_FACT_KEY_F32_DENORM_MODE);
    out.f32_sign_nan_mode = facts.has(WYE_FACT_KEY_F32_SIGN_NAN_MODE);
    out.f64_sign_nan_mode = facts.has(WYE_FACT_KEY_F64_SIGN_NAN_MODE);
    out.f32_rte_mode = facts.has(WYE_FACT_KEY_F32_RTE_MODE);
    out.f64_rte_mode = facts.has(WYE_FACT_KEY_F64_RTE_MODE);
    out.native_f16_convert = facts.has(WYE_FACT_KEY_NATIVE_F16_CONVERT);
    out.native_f32_atomic_add = facts.has(WYE_FACT_KEY_NATIVE_F32_ATOMIC_ADD);
    out.native_f64_atomic_add = facts.has(WYE_FACT_KEY_NATIVE_F64_ATOMIC_ADD);
    if (const auto bytes = facts.number(WYE_FACT_KEY_MAX_PUSH_BYTES)) out.max_push_bytes = *bytes;
    for (const std::uint64_t size : facts.list(WYE_FACT_KEY_SUBGROUP_SIZES))
        out.subgroup_sizes.push_back(static_cast<std::uint32_t>(size));
    return out;
}

namespace {

Result<lower::Artifact> make_artifact(const registry::DeviceInfo& info,
                                      const ProgramObject& program, const PreparedKey& key) {
    if (key.variant != ir::kNone)
        return plan::variant_artifact(program.plan(), key.variant, key.workgroup);
    const std::vector<std::string_view> formats = lower::formats();
    const std::string_view format = route::choose_format(info, formats);
    if (format.empty())
        return Error(
            Code::UNSUPPORTED,
            fmt::format("{} takes no artifact format that this version lowers to", info.selector),
            "Fix: use another device", info.selector);
    lower::Options options;
    if (key.workgroup != program.program().workgroup) options.workgroup = key.workgroup;
    options.folded_grid = key.folded;
    return lower::lower(program.program(), format, target_facts(info.facts), options);
}

}  // namespace

wye_artifact abi_artifact(const lower::Artifact& artifact, std::string_view label) {
    wye_artifact raw{};
    raw.header.size = sizeof raw;
    raw.format = sdk::to_abi(artifact.format);
    raw.code = {artifact.code.data(), artifact.code.size()};
    raw.entry = sdk::to_abi(artifact.entry);
    raw.slots = artifact.slots.data();
    raw.slot_count = static_cast<std::uint32_t>(artifact.slots.size());
    raw.binding_count = artifact.binding_count;
    std::ranges::copy(artifact.workgroup, raw.workgroup_size);
    raw.subgroup_size = artifact.subgroup;
    raw.shared_bytes = artifact.shared_bytes;
    raw.params_size = artifact.params_size;
    raw.label = sdk::to_abi(label);
    raw.options = sdk::to_abi(artifact.options);
    return raw;
}

namespace {

// A variant is code of the program's author: says which one, and where it stands.
Error refused_code(Error error, const registry::DeviceInfo& info, const ir::Program& program,
                   std::uint32_t variant) {
    if (error.code != Code::COMPILE_FAILED || variant == ir::kNone) return error;
    const ir::Variant& which = program.variants[variant];
    const std::string place =
        which.place.line == 0 ? "" : fmt::format(" at {}:{}", which.place.line, which.place.column);
    error.message =
        fmt::format("variant `{}` ({}){} of program `{}` does not compile for {}: {}", which.entry,
                    which.format, place, program.name, info.selector, error.message);
    error.fix = "Fix: correct the variant's code, or dispatch without variants";
    return error;
}

}  // namespace

Result<PreparedRef> prepare(const registry::DeviceRef& device, const ProgramObject& program,
                            const PreparedKey& key) {
    WYE_ASSIGN(const lower::Artifact artifact, make_artifact(device->info(), program, key));
    auto native =
        registry::NativeProgram::create(device, abi_artifact(artifact, program.program().name));
    if (!native.ok())
        return refused_code(std::move(native).error(), device->info(), program.program(),
                            key.variant);

    auto out = std::make_shared<Prepared>(std::move(native).value());
    out->key = key;
    out->encoding = program.encoding();
    out->format = artifact.format;
    out->uses_trap = artifact.uses_trap;
    return out;
}

}  // namespace wye::exec
