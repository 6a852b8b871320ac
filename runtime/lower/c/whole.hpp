// SPDX-License-Identifier: Apache-2.0
//
// Guards that a whole workgroup passes together. Drivers that run a workgroup as a loop over its
// invocations (OpenCL on processors) make masked vector code of `if i < len(b) { ... }`; asked once
// for the last invocation of the workgroup, the same body becomes a plain vector loop, at half the
// time. The guarded form stays beside it for the last workgroup. Pure.
#pragma once

#include <string>
#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

// `bound` above what an id can reach: global_id of `axis` < bound, bound the same in the whole
// grid.
struct WholeGuard {
    unsigned axis;
    ir::ExprId bound;
};

// The guards whose conjunction is the condition of `s`, an `if` at the top level of main; empty
// when it is anything else, when its body is too long to stand twice, or when the program has
// barriers.
[[nodiscard]] std::vector<WholeGuard> whole_guards(const ir::Program& program, const ir::Stmt& s);

}  // namespace wye::lower
