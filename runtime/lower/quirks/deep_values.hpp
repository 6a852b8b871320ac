// SPDX-License-Identifier: Apache-2.0
//
// Values that take lavapipe exponential compile time. It decides for each index, start and step of
// a loop whether the value is uniform in the workgroup, and visits each subexpression once per path
// to it. A value that uses itself twice, repeatedly, has exponentially many paths. Paths end at
// values that are not uniform: loads, invocation ids. Pure; a value.
#pragma once

#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

class DeepValues {
  public:
    explicit DeepValues(const ir::Code& code);

    // True if there may be many paths. False is certain only if no variable is ever assigned a deep
    // value.
    [[nodiscard]] bool deep(ir::ExprId id) const;
    // The value may be uniform, and is not a leaf such as a literal or parameter.
    [[nodiscard]] bool same(ir::ExprId id) const;

  private:
    struct Walk {
        unsigned ways = 1;
        bool same = true;  // uniform, unless known otherwise
    };
    [[nodiscard]] Walk walk(ir::ExprId id) const;

    const ir::Code& code_;
    std::vector<Walk> locals_;
};

}  // namespace wye::lower
