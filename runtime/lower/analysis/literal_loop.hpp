// SPDX-License-Identifier: Apache-2.0
//
// Loops between literals that hold others (the rounds of a hash): compilers unroll the inner ones
// and keep the outer one, so that its tables stay loads and its rotations copies. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "wye/sdk/program.hpp"

namespace wye::lower {

// How often a loop upwards between literals of at most 31 bits runs; nothing for other loops.
[[nodiscard]] std::optional<std::uint64_t> literal_rounds(const ir::Code& code,
                                                          const ir::Stmt& loop);

// The loop is best written out: a few rounds, other loops between literals inside, no barriers or
// ways out, and not too much in all.
[[nodiscard]] bool worth_unrolling(const ir::Program& program, const ir::Code& code,
                                   const ir::Stmt& loop);

}  // namespace wye::lower
