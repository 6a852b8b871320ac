// SPDX-License-Identifier: Apache-2.0
//
// Values that some drivers take for ever to compile: of each index, and of what a loop starts or
// steps with, lavapipe asks whether it is the same for all invocations, and goes through the
// expression once for every way to a part. Of a value that uses itself twice, again and again,
// the ways have no end. They stop at what differs: a load, an invocation's id. Pure; a value.
#pragma once

#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

class DeepValues {
  public:
    explicit DeepValues(const ir::Code& code);

    // The ways may be many. False only where they are known to be few, if no variable is ever given
    // a deep value.
    [[nodiscard]] bool deep(ir::ExprId id) const;
    // More than a literal or parameter, and the same for all invocations as far as is known.
    [[nodiscard]] bool same(ir::ExprId id) const;

  private:
    struct Walk {
        unsigned ways = 1;
        bool same = true;  // for all invocations, as far as is known
    };
    [[nodiscard]] Walk walk(ir::ExprId id) const;

    const ir::Code& code_;
    std::vector<Walk> locals_;
};

}  // namespace wye::lower
