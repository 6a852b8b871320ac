// SPDX-License-Identifier: Apache-2.0
//
// Runs cases as C11. The written text is compiled by the system's compiler into a shared object,
// and called once per invocation, on separate stacks if invocations wait for one another. One case
// at a time.
#pragma once

#include "support/referee.hpp"

namespace c11 {

// UNSUPPORTED for programs with grid barriers, which the runtime splits before lowering;
// COMPILE_FAILED with the output of `cc`.
[[nodiscard]] wye::Result<support::Ending> run(const wye::Program& program,
                                               const support::Case& what);
// The same as on a device that has nothing of 64 bits, on which f32 functions are computed in
// words. The case's program has no other values of 64 bits.
[[nodiscard]] wye::Result<support::Ending> run_in_words(const wye::Program& program,
                                                        const support::Case& what);

}  // namespace c11
