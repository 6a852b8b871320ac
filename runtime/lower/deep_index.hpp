// SPDX-License-Identifier: Apache-2.0
//
// Indices that some drivers take for ever to compile: lavapipe asks of each whether it is the same
// for a whole workgroup, and goes through its expression once for every way to a part, of which a
// value that uses itself twice again and again has no end. Pure; a value.
#pragma once

#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

class DeepIndices {
  public:
    explicit DeepIndices(const ir::Code& code);

    // Ways to parts may be many. False only where they are known to be few.
    [[nodiscard]] bool deep(ir::ExprId index) const;

  private:
    [[nodiscard]] unsigned ways(ir::ExprId id) const;

    const ir::Code& code_;
    std::vector<unsigned> locals_;  // ways to the parts of each
};

}  // namespace wye::lower
