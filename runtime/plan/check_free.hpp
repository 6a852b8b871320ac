// SPDX-License-Identifier: Apache-2.0
//
// Decides whether an admitted launch may run check-free. Pure; thread-safe; allocates nothing.
#pragma once

#include "lower/analysis/preconditions.hpp"
#include "plan/admit.hpp"

namespace wye::plan {

// Writes the element counts by buffer index, including `shared` arrays, for
// lower::LaunchFacts::lengths.
void launch_lengths(const ProgramPlan& plan, const Launch& launch, Lengths& out);

// Whether the launch fulfils the preconditions, which must be those of the plan's program with its
// own workgroup size. Returns false if there are no preconditions, if the launch overrides the
// workgroup size, or if its grid is not known.
[[nodiscard]] bool check_free(const ProgramPlan& plan, const Launch& launch,
                              const lower::Preconditions& preconditions);

}  // namespace wye::plan
