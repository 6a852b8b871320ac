// SPDX-License-Identifier: Apache-2.0
//
// Finds loops that only another invocation can end. Pure; thread-safe.
#pragma once

#include <string>

#include "wye/sdk/program.hpp"

namespace wye::ir::detail {

// Returns the name of the array that a `while` waits for another invocation to write; empty if the
// loop may end by what its own invocation does.
[[nodiscard]] std::string spins_on(const Program& program, const Code& code, const Stmt& loop);

}  // namespace wye::ir::detail
