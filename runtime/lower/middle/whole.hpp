// SPDX-License-Identifier: Apache-2.0
//
// Finds guards that hold for a whole workgroup. Drivers that run a workgroup as a loop over its
// invocations (OpenCL on CPUs) compile `if i < len(b) { ... }` to masked vector code. If one test
// shows that the guard holds for the workgroup's last invocation, the body can be a plain vector
// loop, which takes half the time. The guarded form remains for the last workgroup. Pure.
#pragma once

#include <string>
#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

// The guard global_id[axis] < bound, where `bound` is uniform in the grid.
struct WholeGuard {
    unsigned axis;
    ir::ExprId bound;
};

// Returns the guards whose conjunction is the condition of `s`, an `if` at the top level of main.
// Returns none for other conditions, if the body is too long to be written twice, or if the program
// has barriers.
[[nodiscard]] std::vector<WholeGuard> whole_guards(const ir::Program& program, const ir::Stmt& s);

}  // namespace wye::lower
