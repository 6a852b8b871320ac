// SPDX-License-Identifier: Apache-2.0
//
// How many rounds the loops of one invocation make at most. Pure; a value.
#pragma once

#include <cstdint>
#include <limits>

#include "wye/sdk/program.hpp"

namespace wye::lower {

inline constexpr std::uint64_t kAnyRounds = std::numeric_limits<std::uint64_t>::max();

// All loops together, those that fill arrays with zeros included, and the last test of each counted
// as a round: an upper bound where literals give one, else kAnyRounds. `program` is valid;
// `invocations` of a workgroup share the filling of `shared`.
[[nodiscard]] std::uint64_t most_rounds(const ir::Program& program, std::uint32_t invocations);

}  // namespace wye::lower
