// SPDX-License-Identifier: Apache-2.0
//
// Finds barriers, and the buffers that barriers must order besides `shared` arrays. A barrier that
// orders buffers is slower, since it waits for global memory. Pure.
#pragma once

#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

// Whether a block contains a barrier, also inside its loops and branches.
[[nodiscard]] bool holds_barrier(const ir::Code& main, ir::BlockId block);

// For each buffer index: whether an invocation may read, after a barrier, data that another
// invocation wrote to the buffer before the barrier. True if unsure. False only for
// - `shared` arrays, which every barrier orders,
// - buffers of programs without barriers,
// - buffers that are not written, or whose only access is one store or atomic operation that is not
//   in a loop with a barrier.
[[nodiscard]] std::vector<bool> passed_at_barriers(const ir::Program& program);

}  // namespace wye::lower
