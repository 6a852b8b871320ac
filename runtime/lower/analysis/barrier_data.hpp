// SPDX-License-Identifier: Apache-2.0
//
// Where barriers are, and what they have to order besides `shared`: a barrier that orders buffers
// too waits for memory that is further away. Pure.
#pragma once

#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

// Also in a loop or an `if` inside.
[[nodiscard]] bool holds_barrier(const ir::Code& main, ir::BlockId block);

// By buffer index: some invocation may see at a barrier what another one wrote to it before. False
// for `shared`, and where all that touches the buffer runs between the same two barriers.
[[nodiscard]] std::vector<bool> passed_at_barriers(const ir::Program& program);

}  // namespace wye::lower
