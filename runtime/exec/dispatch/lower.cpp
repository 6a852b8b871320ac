// SPDX-License-Identifier: Apache-2.0
#include "exec/dispatch/lower.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "lower/passes/native_functions.hpp"
#include "plan/check_free.hpp"
#include "plan/phases.hpp"

namespace wye::exec {
namespace {

// Writes a phase's parameter block: the launch's parameters, then the phase's counters.
void write_params(std::byte* block, const plan::ProgramPlan& plan, const plan::Launch& launch,
                  const plan::Phase& phase) {
    std::memcpy(block, launch.params, launch.params_size);
    const auto& params = plan.program->params;
    const std::size_t first = params.size() - phase.counters.size();
    for (std::size_t k = 0; k < phase.counters.size(); ++k)
        std::memcpy(block + plan.params.offsets[first + k], &phase.counters[k],
                    params[first + k].type.bytes());
}

std::size_t words_of(const plan::ProgramPlan& plan) { return plan.params.size / 8 + 1; }

Result<void> choose_form(LoadedProgram& program, const plan::Launch& launch,
                         const route::Route& route, std::uint32_t ulp_budget, Kernels& out) {
    if (!has_forms(route)) return {};
    const plan::ProgramPlan& plan = program.plan();
    out.form.natives = lower::choose_natives(program.ir(), route.format, ulp_budget);
    // Preconditions apply only to the whole program with its own workgroup size, and a known grid.
    if (plan.analysis.uses_grid_barrier || launch.has_override || launch.indirect) return {};
    WYE_ASSIGN(out.preconditions, program.preconditions(out.form.natives));
    out.form.check_free = plan::check_free(plan, launch, *out.preconditions);
    return {};
}

}  // namespace

bool has_forms(const route::Route& route) {
    return route.variant == ir::kNone && route.format != WYE_FORMAT_PROGRAM;
}

Result<void> Kernels::split(LoadedProgram& program, const plan::Launch& launch) {
    WYE_ASSIGN(const std::vector<plan::Phase> phases, plan::phases(program.plan(), launch));
    one_ = {};
    std::map<plan::Path, std::uint32_t> number_of;
    std::size_t words = 0;
    for (const plan::Phase& phase : phases) {
        const auto [at, fresh] =
            number_of.emplace(phase.path, static_cast<std::uint32_t>(phases_.size()));
        if (fresh) {
            WYE_ASSIGN(const ProgramRef made, program.phase(phase.path));  // owned by `program`
            phases_.push_back({made.get(), nullptr});
        }
        launches_.push_back({at->second, nullptr, 0});
        words += words_of(phases_[at->second].program->plan());
    }
    params_.assign(words, 0);
    std::uint64_t* block = params_.data();
    for (std::size_t n = 0; n < phases.size(); ++n) {
        const plan::ProgramPlan& plan = phases_[launches_[n].kernel].program->plan();
        auto* bytes = reinterpret_cast<std::byte*>(block);
        write_params(bytes, plan, launch, phases[n]);
        launches_[n].params = bytes;
        launches_[n].params_size = plan.params.size;
        block += words_of(plan);
    }
    return {};
}

std::span<const std::byte> Kernels::block(const void* params) const {
    for (const KernelLaunch& launch : launches())
        if (launch.params == params) return {launch.params, launch.params_size};
    return {};
}

void Kernels::keep(std::vector<CompiledRef>& out) const {
    for (const Kernel& kernel : kernels()) out.push_back(kernel.compiled);
    if (grid_check) out.push_back(grid_check.compiled);
}

bool Kernels::traps() const {
    return std::ranges::any_of(kernels(), [](const Kernel& k) { return k.compiled->uses_trap; });
}

bool Kernels::warm() const {
    const auto is_warm = [](const CompiledRef& one) {
        return one->warm.load(std::memory_order_relaxed);
    };
    return (!grid_check || is_warm(grid_check.compiled)) &&
           std::ranges::all_of(kernels(), is_warm, &Kernel::compiled);
}

void Kernels::set_warm() {
    for (const Kernel& kernel : kernels())
        kernel.compiled->warm.store(true, std::memory_order_relaxed);
    if (grid_check) grid_check.compiled->warm.store(true, std::memory_order_relaxed);
}

std::uint32_t cooperative_use(const plan::Count3& groups, const route::Limits& limits,
                              std::string_view format) {
    if (!limits.grid_sync) return WYE_COOPERATIVE_SPLIT_DEVICE;
    if (!lower::has_grid_barriers(format)) return WYE_COOPERATIVE_SPLIT_FORMAT;
    return limits.folds(groups) ? WYE_COOPERATIVE_SPLIT_GRID : WYE_COOPERATIVE_NATIVE;
}

Result<void> lower(LoadedProgram& program, const plan::Launch& launch, const route::Limits& limits,
                   const route::Route& route, const FormDemands& demands, Kernels& out) {
    out.form.workgroup = launch.workgroup;
    out.form.folded = limits.folds(launch.groups);
    out.form.variant = route.variant;
    out.form.profile = demands.profile;
    const bool barriers = program.plan().analysis.uses_grid_barrier && route.variant == ir::kNone;
    if (demands.cooperative)
        out.cooperative = barriers ? cooperative_use(launch.groups, limits, route.format)
                                   : std::uint32_t{WYE_COOPERATIVE_NATIVE};
    WYE_TRY(choose_form(program, launch, route, demands.ulp_budget, out));
    if (launch.empty) return {};  // nothing runs, so nothing is compiled
    // A program is split at its grid barriers into one launch for each phase, unless the launch is
    // cooperative and can stay one launch. Whether all of its workgroups fit on the device at once
    // is known only after compiling.
    if (barriers && !out.at_once()) return out.split(program, launch);
    out.whole(program, launch);
    return {};
}

}  // namespace wye::exec
