// SPDX-License-Identifier: Apache-2.0
//
// Finds values for which lavapipe needs exponential compile time. lavapipe decides for each index,
// start and step of a loop whether the value is uniform in the workgroup, and visits each
// subexpression once per path to it. A value that is built by repeatedly using the previous value
// twice has exponentially many paths. Paths end at values that are not uniform: loads, invocation
// ids. Pure.
#pragma once

#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

class DeepValues {
  public:
    explicit DeepValues(const ir::Code& code);

    // Whether there may be many paths to the value. May be false for a deep value that comes from a
    // variable, since assignments are not followed.
    [[nodiscard]] bool deep(ir::ExprId id) const;
    // Whether the value may be uniform and is not a leaf such as a literal or parameter.
    [[nodiscard]] bool same(ir::ExprId id) const;

  private:
    struct Walk {
        unsigned ways = 1;
        bool same = true;  // whether the value may be uniform
    };
    [[nodiscard]] Walk walk(ir::ExprId id) const;

    const ir::Code& code_;
    std::vector<Walk> locals_;
};

}  // namespace wye::lower
