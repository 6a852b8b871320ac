// SPDX-License-Identifier: Apache-2.0
//
// Runs cases as C11: written, compiled by the system's compiler into a shared object, and called
// once for each invocation, with stacks of their own where invocations wait for one another. One
// case at a time.
#pragma once

#include "differential/referee.hpp"

namespace c11 {

// UNSUPPORTED for programs with grid barriers, which the runtime splits before it lowers them;
// COMPILE_FAILED with what `cc` says.
[[nodiscard]] wye::Result<conformance::Ending> run(const wye::Program& program,
                                                   const differential::Case& what);

}  // namespace c11
