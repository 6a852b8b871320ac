// SPDX-License-Identifier: Apache-2.0
//
// Decides whether an admitted launch may run check-free. Pure; thread-safe; allocates nothing.
#pragma once

#include "lower/analysis/preconditions.hpp"
#include "plan/admit.hpp"

namespace wye::plan {

// Element counts by buffer index, `shared` included, for preconditions.
void launch_lengths(const ProgramPlan& plan, const Launch& launch, Lengths& out);

// `preconditions` are those of the plan's program with its own workgroup size. False if there are
// none, or if the launch overrides the size.
[[nodiscard]] bool check_free(const ProgramPlan& plan, const Launch& launch,
                              const lower::Preconditions& preconditions);

}  // namespace wye::plan
