// SPDX-License-Identifier: Apache-2.0
//
// Where barriers are, and which buffers they must order besides `shared`. A barrier that orders
// buffers waits for more distant memory. Pure.
#pragma once

#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

// Including nested loops and branches.
[[nodiscard]] bool holds_barrier(const ir::Code& main, ir::BlockId block);

// By buffer index: an invocation may read after a barrier what another wrote before it. False for
// `shared`, and if all accesses lie between the same two barriers.
[[nodiscard]] std::vector<bool> passed_at_barriers(const ir::Program& program);

}  // namespace wye::lower
