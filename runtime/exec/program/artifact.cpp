// SPDX-License-Identifier: Apache-2.0
#include "exec/program/artifact.hpp"

#include <pthread.h>

#include <algorithm>

#include "lower/quirks/drivers.hpp"
#include "plan/variant_artifact.hpp"
#include "wye/sdk/facts.hpp"
#include "wye/sdk/plugin.hpp"

namespace wye::exec {
namespace {

// A capability that lowering reads, and its member in TargetFacts.
struct FlagFact {
    std::uint32_t key;
    bool lower::TargetFacts::*member;
};
constexpr FlagFact kFlags[] = {
    {WYE_FACT_KEY_NATIVE_F32_DIV, &lower::TargetFacts::native_f32_div},
    {WYE_FACT_KEY_NATIVE_F32_SQRT, &lower::TargetFacts::native_f32_sqrt},
    {WYE_FACT_KEY_NATIVE_F32_FMA, &lower::TargetFacts::native_f32_fma},
    {sdk::facts::kNativeNormalF32Fma, &lower::TargetFacts::native_normal_f32_fma},
    {WYE_FACT_KEY_NATIVE_F64_DIV, &lower::TargetFacts::native_f64_div},
    {WYE_FACT_KEY_NATIVE_F64_SQRT, &lower::TargetFacts::native_f64_sqrt},
    {WYE_FACT_KEY_NATIVE_F64_FMA, &lower::TargetFacts::native_f64_fma},
    {WYE_FACT_KEY_NATIVE_F32_ROUND, &lower::TargetFacts::native_f32_round},
    {WYE_FACT_KEY_NATIVE_F64_ROUND, &lower::TargetFacts::native_f64_round},
    {WYE_FACT_KEY_F64, &lower::TargetFacts::f64},
    {WYE_FACT_KEY_INT64, &lower::TargetFacts::int64},
    {WYE_FACT_KEY_NATIVE_STORAGE8, &lower::TargetFacts::storage8},
    {WYE_FACT_KEY_NATIVE_STORAGE16, &lower::TargetFacts::storage16},
    {WYE_FACT_KEY_KEEPS_F32_DENORMALS, &lower::TargetFacts::keeps_f32_denormals},
    {WYE_FACT_KEY_F32_DENORM_MODE, &lower::TargetFacts::f32_denorm_mode},
    {WYE_FACT_KEY_F32_SIGN_NAN_MODE, &lower::TargetFacts::f32_sign_nan_mode},
    {WYE_FACT_KEY_F64_SIGN_NAN_MODE, &lower::TargetFacts::f64_sign_nan_mode},
    {WYE_FACT_KEY_F32_RTE_MODE, &lower::TargetFacts::f32_rte_mode},
    {WYE_FACT_KEY_F64_RTE_MODE, &lower::TargetFacts::f64_rte_mode},
    {WYE_FACT_KEY_NATIVE_F16_CONVERT, &lower::TargetFacts::native_f16_convert},
    {WYE_FACT_KEY_NATIVE_F32_ATOMIC_ADD, &lower::TargetFacts::native_f32_atomic_add},
    {WYE_FACT_KEY_NATIVE_F64_ATOMIC_ADD, &lower::TargetFacts::native_f64_atomic_add},
    {WYE_FACT_KEY_WORKGROUP_LOOPS, &lower::TargetFacts::workgroup_loops},
};

struct NumberFact {
    std::uint32_t key;
    std::uint64_t lower::TargetFacts::*member;
};
constexpr NumberFact kNumbers[] = {
    {WYE_FACT_KEY_MAX_PUSH_BYTES, &lower::TargetFacts::max_push_bytes},
    {WYE_FACT_KEY_LOOP_ROUNDS, &lower::TargetFacts::loop_rounds},
    {sdk::facts::kF32ToF64Rate, &lower::TargetFacts::f32_to_f64_rate},
};

// The stack that kernels can use on a thread that a driver starts in this process, at most 1 MiB. A
// new thread has the stack size that `ulimit -s` gave the process at its start. The driver's own
// calls need the rest of that stack.
std::uint64_t stack_bytes() noexcept {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 20U;
    constexpr std::uint64_t kDrivers = std::uint64_t{128} << 10U;
    pthread_attr_t attributes;
    std::size_t size = 0;
    if (::pthread_getattr_default_np(&attributes) != 0) return kMost / 8;
    (void)::pthread_attr_getstacksize(&attributes, &size);
    (void)::pthread_attr_destroy(&attributes);
    const std::uint64_t half = std::uint64_t{size} / 2;
    return std::min(kMost, half - std::min(half, kDrivers));
}

}  // namespace

lower::TargetFacts target_facts(const registry::Facts& facts, const lower::QuirkChoice& choice) {
    lower::TargetFacts out;
    for (const FlagFact& flag : kFlags) out.*flag.member = facts.has(flag.key);
    out.f64 = out.f64 && facts.has(WYE_FACT_KEY_IEEE_F64);
    for (const NumberFact& number : kNumbers)
        out.*number.member = facts.number(number.key).value_or(out.*number.member);
    if (out.workgroup_loops) out.stack_bytes = stack_bytes();
    for (const std::uint64_t size : facts.list(WYE_FACT_KEY_SUBGROUP_SIZES))
        out.subgroup_sizes.push_back(static_cast<std::uint32_t>(size));
    lower::DriverIdentity device;
    device.platform = facts.text(WYE_FACT_KEY_PLATFORM);
    device.driver = facts.text(WYE_FACT_KEY_DRIVER);
    device.whole_workgroups = out.workgroup_loops;
    device.folds_literal_zero = facts.has(WYE_FACT_KEY_FOLDS_LITERAL_ZERO);
    out.quirks = choice.of(lower::quirks_of(device));
    return out;
}

lower::Options lowering_options(const ir::Program& program, const Form& form) {
    lower::Options options;
    if (form.workgroup != program.workgroup) options.workgroup = form.workgroup;
    options.folded_grid = form.folded;
    options.natives = form.natives;
    options.check_free = form.check_free;
    return options;
}

Result<lower::Artifact> make_artifact(const LoadedProgram& program, const Form& form,
                                      std::string_view format, const lower::TargetFacts& facts) {
    if (form.variant != ir::kNone)
        return plan::variant_artifact(program.plan(), form.variant, form.workgroup);
    return lower::lower(program.ir(), format, facts, lowering_options(program.ir(), form));
}

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

}  // namespace wye::exec
