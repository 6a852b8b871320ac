// SPDX-License-Identifier: Apache-2.0
//
// ParamRules: whether the parameters of a prepared dispatch may change, and to what. They may not
// if they decide sizes, since its operations depend on these; nor if it is split at grid barriers.
// Values are refused that would choose another form of its kernel, or make it deterministic if it
// was not, or the reverse. Borrows the program's plan and preconditions. A value; copies share what
// they know of the launch.
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
    // No parameter may change.
    ParamRules() = default;
    // Those of an admitted launch whose form is chosen.
    ParamRules(const plan::ProgramPlan& plan, const plan::Launch& launch, const Kernels& kernels);

    [[nodiscard]] bool may_change() const noexcept { return plan_ != nullptr; }
    // Whether parameters may have any value of their types.
    [[nodiscard]] bool allow_all() const noexcept { return plan_ != nullptr && !facts_; }
    [[nodiscard]] bool allow(std::span<const std::uint64_t> words) const;
    // Writes parameters as the kernel reads them. Errors: those of plan::pack_params, for a value
    // that its type does not have; the block is then half-written.
    [[nodiscard]] Result<void> pack(std::span<const std::uint64_t> words, std::byte* block) const {
        return plan::pack_params(*plan_, words, block);
    }
    // Valid if parameters may change.
    [[nodiscard]] const plan::ProgramPlan& plan() const noexcept { return *plan_; }

  private:
    // What the form and the verdict depend on besides parameters, and what they are.
    struct Facts {
        const lower::Preconditions* preconditions;  // null: parameters do not decide the form
        plan::Lengths lengths;                      // elements by buffer index
        plan::Count3 groups, workgroup;
        bool check_free, deterministic;
    };
    const plan::ProgramPlan* plan_ = nullptr;
    std::shared_ptr<const Facts> facts_;
};

}  // namespace wye::exec
