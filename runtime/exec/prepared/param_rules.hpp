// SPDX-License-Identifier: Apache-2.0
//
// ParamRules: whether the parameters of a prepared dispatch may change, and to which values. No
// parameter may change if parameters decide sizes, since the operations of the dispatch depend on
// sizes, or if the dispatch is split at grid barriers. A value is refused if it would select
// another form of the kernel, or change whether the dispatch is deterministic. Borrows the
// program's plan and preconditions. A value type; copies share the facts about the launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "exec/dispatch/lower.hpp"
#include "plan/admit.hpp"
#include "plan/launch.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

class ParamRules {
  public:
    // Rules that let no parameter change.
    ParamRules() = default;
    // The rules for an admitted launch whose kernels are chosen.
    ParamRules(const plan::ProgramPlan& plan, const plan::Launch& launch, const Kernels& kernels);

    [[nodiscard]] bool may_change() const noexcept { return plan_ != nullptr; }
    // Whether parameters may have any value of their types.
    [[nodiscard]] bool allow_all() const noexcept { return plan_ != nullptr && !facts_; }
    [[nodiscard]] bool allow(std::span<const std::uint64_t> words) const;
    // Packs parameters into a block as the kernel reads them. Errors: those of plan::pack_params,
    // for a value outside the range of its parameter's type. After an error the block is
    // incomplete.
    [[nodiscard]] Result<void> pack(std::span<const std::uint64_t> words, std::byte* block) const {
        return plan::pack_params(*plan_, words, block);
    }
    // Called only if parameters may change.
    [[nodiscard]] const plan::ProgramPlan& plan() const noexcept { return *plan_; }

  private:
    // `lengths`, `groups`, `workgroup`: the values, besides parameters, that decide the form of the
    // kernel and the determinism. `check_free`, `deterministic`: the results for this launch.
    struct Facts {
        const lower::Preconditions* preconditions;  // null: parameters do not decide the form
        plan::Lengths lengths;                      // element counts by buffer index
        plan::Count3 groups, workgroup;
        bool check_free, deterministic;
    };
    const plan::ProgramPlan* plan_ = nullptr;
    std::shared_ptr<const Facts> facts_;
};

}  // namespace wye::exec
