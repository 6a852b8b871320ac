// SPDX-License-Identifier: Apache-2.0
//
// Makes the artifact of a native variant, which runs in place of the program's body. Pure;
// thread-safe.
#pragma once

#include <cstdint>

#include "lower/lower.hpp"
#include "plan/launch.hpp"

namespace wye::plan {

// Returns the artifact. Its slots have the order that variants expect: buffer addresses in binding
// order, element counts in binding order, the parameter block. If the format has push constants,
// these contain the counts and the parameter block. Error: UNSUPPORTED if the format has push
// constants and the program's binding numbers are not 0, 1, 2, ...
[[nodiscard]] Result<lower::Artifact> variant_artifact(const ProgramPlan& plan,
                                                       std::uint32_t variant,
                                                       const Count3& workgroup);

}  // namespace wye::plan
