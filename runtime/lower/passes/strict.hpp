// SPDX-License-Identifier: Apache-2.0
//
// The strict pass: math operations become calls of functions written in the language itself, so
// that every target computes them with the same exact operations, and no plugin meets one. Runs
// before every lowering. Pure; thread-safe.
#pragma once

#include "lower/lower.hpp"
#include "wye/sdk/program.hpp"
#include "wye/sdk/result.hpp"

namespace wye::lower {

// Whether a math function stands anywhere in the program, but for those that stay.
[[nodiscard]] bool uses_math(const ir::Program& program, NativeSet stay = 0);

// The same program with the definitions it needs in front of its own functions, its own tables
// first. Valid again; INVALID_PROGRAM never, if `program` is valid. LIMIT_EXCEEDED when program and
// definitions together break a limit of the language.
[[nodiscard]] Result<ir::Program> expand_math(const ir::Program& program, NativeSet stay = 0);

}  // namespace wye::lower
