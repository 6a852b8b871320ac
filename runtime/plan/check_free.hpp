// SPDX-License-Identifier: Apache-2.0
//
// Whether an admitted launch may run without the range checks that depend on it. Pure;
// thread-safe; allocates nothing.
#pragma once

#include "lower/analysis/preconditions.hpp"
#include "plan/admit.hpp"

namespace wye::plan {

// Counts by buffer index, `shared` included, as preconditions read them.
void launch_lengths(const ProgramPlan& plan, const Launch& launch, Lengths& out);

// `preconditions` are those of the plan's program with its own workgroup size. False where there
// are none, and for launches that override the size.
[[nodiscard]] bool check_free(const ProgramPlan& plan, const Launch& launch,
                              const lower::Preconditions& preconditions);

}  // namespace wye::plan
