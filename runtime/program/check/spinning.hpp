// SPDX-License-Identifier: Apache-2.0
//
// Finds loops that only another invocation can end. Pure; thread-safe.
#pragma once

#include <string>

#include "wye/sdk/program.hpp"

namespace wye::ir::detail {

// Returns the name of the array that another invocation must write so that a `while` ends; empty:
// the loop's own invocation may end it.
[[nodiscard]] std::string spins_on(const Program& program, const Code& code, const Stmt& loop);

}  // namespace wye::ir::detail
