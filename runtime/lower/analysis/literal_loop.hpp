// SPDX-License-Identifier: Apache-2.0
//
// Loops with literal bounds that contain others (the rounds of a hash). Compilers unroll only the
// inner loops, so tables stay loads and rotations of variables stay copies. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "wye/sdk/program.hpp"

namespace wye::lower {

// The number of rounds of a loop with literal bounds and step of at most 31 bits, else nothing.
[[nodiscard]] std::optional<std::uint64_t> literal_rounds(const ir::Code& code,
                                                          const ir::Stmt& loop);

// The loop should be unrolled: few rounds, inner loops with literal bounds, no barriers, jumps or
// atomics, and a limited total size.
[[nodiscard]] bool worth_unrolling(const ir::Program& program, const ir::Code& code,
                                   const ir::Stmt& loop);

}  // namespace wye::lower
