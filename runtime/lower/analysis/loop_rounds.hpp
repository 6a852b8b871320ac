// SPDX-License-Identifier: Apache-2.0
//
// Computes an upper bound of the iterations of all loops of one invocation. Pure.
#pragma once

#include <cstdint>
#include <limits>

#include "wye/sdk/program.hpp"

namespace wye::lower {

inline constexpr std::uint64_t kAnyRounds = std::numeric_limits<std::uint64_t>::max();

// Counts the loops that zero arrays too, and the last test of each loop as an iteration. Returns
// kAnyRounds if no literals give a bound. `program` is valid. The `invocations` of a workgroup
// share the work of zeroing `shared`.
[[nodiscard]] std::uint64_t most_rounds(const ir::Program& program, std::uint32_t invocations);

}  // namespace wye::lower
