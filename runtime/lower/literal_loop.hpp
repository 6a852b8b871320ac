// SPDX-License-Identifier: Apache-2.0
//
// Loops between literals that hold others (the rounds of a hash): compilers unroll the inner ones
// and keep the outer one, so that its tables stay loads and its rotations copies. Pure.
#pragma once

#include "wye/sdk/program.hpp"

namespace wye::lower {

// The loop is best written out: a few rounds, other loops between literals inside, no barriers or
// ways out, and not too much in all.
[[nodiscard]] bool worth_unrolling(const ir::Program& program, const ir::Code& code,
                                   const ir::Stmt& loop);

}  // namespace wye::lower
