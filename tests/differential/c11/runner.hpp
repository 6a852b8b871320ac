// SPDX-License-Identifier: Apache-2.0
//
// Runs cases as C11. The system's compiler makes a shared object of the written text. Its function
// is called once for each invocation, on a stack of its own if invocations wait for one another.
// One case can run at a time.
#pragma once

#include "lower/passes/strict.hpp"
#include "support/referee.hpp"

namespace c11 {

// Runs a case. UNSUPPORTED: the program has grid barriers, which the runtime splits before
// lowering. COMPILE_FAILED: `cc` failed; the error has its output.
[[nodiscard]] wye::Result<support::Ending> run(const wye::Program& program,
                                               const support::Case& what);
// As `run`, with these definitions of math functions. INTERNAL: `ways.words` is set, but the
// program has values of 64 bits even after its functions are replaced by the definitions.
[[nodiscard]] wye::Result<support::Ending> run_in(const wye::lower::MathWays& ways,
                                                  const support::Case& what);

}  // namespace c11
