// SPDX-License-Identifier: Apache-2.0
//
// Finds loops with literal bounds that should be unrolled although they contain other loops (the
// rounds of a hash). Compilers unroll only the inner loops, so that table look-ups remain loads and
// rotations of variables remain copies. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "wye/sdk/program.hpp"

namespace wye::lower {

// The number of iterations of a loop with literal bounds and step of at most 31 bits; empty for
// other loops.
[[nodiscard]] std::optional<std::uint64_t> literal_rounds(const ir::Code& code,
                                                          const ir::Stmt& loop);

// Whether the loop should be unrolled: it has few iterations, its inner loops have literal bounds,
// it has no barriers, jumps or atomics, and its total size is limited.
[[nodiscard]] bool worth_unrolling(const ir::Program& program, const ir::Code& code,
                                   const ir::Stmt& loop);

}  // namespace wye::lower
