// SPDX-License-Identifier: Apache-2.0
//
// The strict pass replaces math operations by calls of functions written in the language, so every
// target computes them with the same exact operations, and plugins need no math functions. Runs
// before every lowering. Pure; thread-safe.
#pragma once

#include "lower/lower.hpp"
#include "wye/sdk/program.hpp"
#include "wye/sdk/result.hpp"

namespace wye::lower {

// Whether the program uses a math function other than those in `stay`.
[[nodiscard]] bool uses_math(const ir::Program& program, NativeSet stay = 0);

// Returns the same program with the required definitions before its own functions, and their tables
// before its own. Errors: LIMIT_EXCEEDED if program and definitions together exceed a limit of the
// language. Never INVALID_PROGRAM if `program` is valid.
[[nodiscard]] Result<ir::Program> expand_math(const ir::Program& program, NativeSet stay = 0);

}  // namespace wye::lower
