// SPDX-License-Identifier: Apache-2.0
//
// Computes an upper bound of the rounds of all loops of one invocation. Pure.
#pragma once

#include <cstdint>
#include <limits>

#include "wye/sdk/program.hpp"

namespace wye::lower {

inline constexpr std::uint64_t kAnyRounds = std::numeric_limits<std::uint64_t>::max();

// Includes the loops that zero arrays; the last test of each loop counts as a round. kAnyRounds if
// literals give no bound. `program` is valid; the `invocations` of a workgroup share the work of
// zeroing `shared`.
[[nodiscard]] std::uint64_t most_rounds(const ir::Program& program, std::uint32_t invocations);

}  // namespace wye::lower
