// SPDX-License-Identifier: Apache-2.0
#include "exec/prepared/param_rules.hpp"

#include "plan/check_free.hpp"

namespace wye::exec {

ParamRules::ParamRules(const plan::ProgramPlan& plan, const plan::Launch& launch,
                       const Kernels& kernels) {
    if (!kernels.is_whole() || plan.params_decide_sizes) return;
    const lower::Preconditions* form = kernels.preconditions;
    if (form != nullptr && !form->read_params()) form = nullptr;
    if (form != nullptr || plan.params_decide_verdict) {
        auto facts = std::make_shared<Facts>(Facts{form,
                                                   {},
                                                   launch.most_groups(),
                                                   launch.workgroup,
                                                   kernels.form.check_free,
                                                   launch.deterministic});
        plan::launch_lengths(plan, launch, facts->lengths);
        facts_ = std::move(facts);
    }
    plan_ = &plan;
}

bool ParamRules::allow(std::span<const std::uint64_t> words) const {
    if (!facts_) return may_change();
    const auto& [form, all_lengths, groups, workgroup, check_free, deterministic] = *facts_;
    const std::span<const std::uint64_t> lengths(all_lengths, plan_->program->buffers.size());
    if (plan_->params_decide_verdict &&
        plan::is_deterministic(*plan_, words, lengths, groups, workgroup) != deterministic)
        return false;
    return form == nullptr || form->hold({words, lengths, groups, workgroup}) == check_free;
}

}  // namespace wye::exec
