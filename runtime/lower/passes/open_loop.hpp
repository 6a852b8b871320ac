// SPDX-License-Identifier: Apache-2.0
//
// Which loops without a known end (`for i in global_id.x..len(x) step s`) are written several
// rounds at a time, so that the loads of all of them are under way together. Pure.
#pragma once

#include <cstddef>

#include "wye/sdk/program.hpp"

namespace wye::lower {

struct LoopBody {
    bool straight = true;  // no branches, loops, ways out or barriers
    bool loads = false;    // from a buffer
    bool writes = false;   // to any memory
    std::size_t nodes = 0;

    // Of at most this size.
    [[nodiscard]] bool worth_several(std::size_t most_nodes) const {
        return straight && loads && nodes <= most_nodes;
    }
};

[[nodiscard]] LoopBody loop_body(const ir::Program& program, const ir::Code& code,
                                 ir::BlockId body);

}  // namespace wye::lower
