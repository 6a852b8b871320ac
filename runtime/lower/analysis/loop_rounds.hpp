// SPDX-License-Identifier: Apache-2.0
//
// Computes an upper bound of the number of loop iterations that one invocation runs. Pure.
#pragma once

#include <cstdint>
#include <limits>

#include "wye/sdk/program.hpp"

namespace wye::lower {

inline constexpr std::uint64_t kAnyRounds = std::numeric_limits<std::uint64_t>::max();

// Returns the bound for all loops together, or kAnyRounds if literals do not give one. It counts
// the last test of each loop as an iteration. It includes the loops that zero arrays; the
// `invocations` of a workgroup share the zeroing of `shared` arrays. `program` is valid.
[[nodiscard]] std::uint64_t most_rounds(const ir::Program& program, std::uint32_t invocations);

}  // namespace wye::lower
