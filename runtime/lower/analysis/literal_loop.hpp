// SPDX-License-Identifier: Apache-2.0
//
// Finds loops with literal bounds that should be unrolled although they contain other loops, such
// as the loop over the rounds of a hash function. Compilers unroll only the inner loops: then table
// look-ups remain loads, and rotations of variables remain copies. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "wye/sdk/program.hpp"

namespace wye::lower {

// The number of iterations of a loop whose bounds and step are literals of at most 31 bits; empty
// for other loops.
[[nodiscard]] std::optional<std::uint64_t> literal_rounds(const ir::Code& code,
                                                          const ir::Stmt& loop);

// Whether the loop should be unrolled: it has few iterations, its inner loops have literal bounds,
// it has no barriers, jumps or atomics, and all iterations together have a limited number of
// operations.
[[nodiscard]] bool worth_unrolling(const ir::Program& program, const ir::Code& code,
                                   const ir::Stmt& loop);

}  // namespace wye::lower
