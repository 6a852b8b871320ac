// SPDX-License-Identifier: Apache-2.0
//
// Decides which loops without a known end (`for i in global_id.x..len(x) step s`) are unrolled, so
// that the loads of several iterations are in flight at the same time. Pure.
#pragma once

#include <cstddef>

#include "wye/sdk/program.hpp"

namespace wye::lower {

struct LoopBody {
    bool straight = true;  // has no branches, loops, jumps, array declarations or barriers
    bool loads = false;    // loads from a buffer
    bool writes = false;   // writes to any memory
    std::size_t nodes = 0;

    // Whether unrolling is worthwhile. Only bodies of at most `most_nodes` nodes are unrolled.
    [[nodiscard]] bool worth_several(std::size_t most_nodes) const {
        return straight && loads && nodes <= most_nodes;
    }
};

[[nodiscard]] LoopBody loop_body(const ir::Program& program, const ir::Code& code,
                                 ir::BlockId body);

}  // namespace wye::lower
