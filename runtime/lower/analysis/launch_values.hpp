// SPDX-License-Identifier: Apache-2.0
//
// Finds values that a compiler cannot know. Some compilers miscompile float operations on
// constants; values that come from a launch are safe.
#pragma once

#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

class LaunchValues {
  public:
    LaunchValues(const ir::Program& program, const ir::Code& code);

    // Whether the value is computed from parameters and read-only buffers by operations that a
    // compiler cannot replace by a constant. Returns false if unsure.
    [[nodiscard]] bool unknown(ir::ExprId id) const;

  private:
    const ir::Program& program_;
    const ir::Code& code_;
    std::vector<bool> locals_;  // lets for which `unknown` is true
};

// Whether the expression is a literal or a vector of literals, none of which is NaN or -0. If
// `zero` is false, none may be 0 either.
[[nodiscard]] bool plain_literal(const ir::Code& code, ir::ExprId id, bool zero);

}  // namespace wye::lower
