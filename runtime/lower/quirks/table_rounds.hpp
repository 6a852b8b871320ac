// SPDX-License-Identifier: Apache-2.0
//
// For the quirk `mesa-unroll-table-loop`: finds loops that Mesa unrolls whatever their size,
// because their counter indexes an array with as many elements as the loop has iterations. Pure.
#pragma once

#include "wye/sdk/program.hpp"

namespace wye::lower {

// Whether `s` is such a loop and is too large to unroll.
[[nodiscard]] bool unrolled_without_end(const ir::Program& program, const ir::Code& code,
                                        const ir::Stmt& s);

}  // namespace wye::lower
