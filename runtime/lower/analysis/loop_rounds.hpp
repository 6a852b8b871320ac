// SPDX-License-Identifier: Apache-2.0
//
// An upper bound of the rounds of all loops of one invocation. Pure; a value.
#pragma once

#include <cstdint>
#include <limits>

#include "wye/sdk/program.hpp"

namespace wye::lower {

inline constexpr std::uint64_t kAnyRounds = std::numeric_limits<std::uint64_t>::max();

// All loops, including those that zero arrays; the last test of each counts as a round. kAnyRounds
// if literals give no bound. `program` is valid; the `invocations` of a workgroup share the zeroing
// of `shared`.
[[nodiscard]] std::uint64_t most_rounds(const ir::Program& program, std::uint32_t invocations);

}  // namespace wye::lower
