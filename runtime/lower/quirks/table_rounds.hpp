// SPDX-License-Identifier: Apache-2.0
//
// For the quirk `mesa-unroll-table-loop`: loops that Mesa unrolls whatever their size, since they
// run as many rounds as an array has elements that their counter is an index of. Pure.
#pragma once

#include "wye/sdk/program.hpp"

namespace wye::lower {

// Whether the loop `s` is such a one, and too large for it.
[[nodiscard]] bool unrolled_without_end(const ir::Program& program, const ir::Code& code,
                                        const ir::Stmt& s);

}  // namespace wye::lower
