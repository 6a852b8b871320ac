// SPDX-License-Identifier: Apache-2.0
//
// Makes the artifact of a native variant, which runs in place of the program's body. Pure;
// thread-safe.
#pragma once

#include <cstdint>

#include "lower/lower.hpp"
#include "plan/launch.hpp"

namespace wye::plan {

// Slots in the order that variants expect: buffer addresses in binding order, element counts
// likewise, the parameter block. If the format has push constants, counts and block are in them;
// UNSUPPORTED then for a program whose binding numbers are not 0, 1, 2, ...
[[nodiscard]] Result<lower::Artifact> variant_artifact(const ProgramPlan& plan,
                                                       std::uint32_t variant,
                                                       const Count3& workgroup);

}  // namespace wye::plan
