// SPDX-License-Identifier: Apache-2.0
//
// Guards that hold for a whole workgroup. Drivers that run a workgroup as a loop over its
// invocations (OpenCL on CPUs) make masked vector code of `if i < len(b) { ... }`. With one test
// for the last invocation of the workgroup, the same body becomes a plain vector loop, in half the
// time. The guarded form remains for the last workgroup. Pure.
#pragma once

#include <string>
#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

// global_id of `axis` < bound; `bound` is uniform in the grid.
struct WholeGuard {
    unsigned axis;
    ir::ExprId bound;
};

// The guards whose conjunction is the condition of `s`, an `if` at the top level of main. Empty for
// other conditions, if the body is too long to be written twice, or if the program has barriers.
[[nodiscard]] std::vector<WholeGuard> whole_guards(const ir::Program& program, const ir::Stmt& s);

}  // namespace wye::lower
