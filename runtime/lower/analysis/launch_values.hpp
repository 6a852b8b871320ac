// SPDX-License-Identifier: Apache-2.0
//
// What a compiler can know. Some go wrong on constants that meet in float operations; a value that
// comes from the data of a launch is safe from that.
#pragma once

#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

class LaunchValues {
  public:
    LaunchValues(const ir::Program& program, const ir::Code& code);

    // The value comes from parameters and read-only buffers, by steps that no compiler can replace
    // by a constant. False where that is not known.
    [[nodiscard]] bool unknown(ir::ExprId id) const;

  private:
    const ir::Program& program_;
    const ir::Code& code_;
    std::vector<bool> locals_;  // lets whose values are unknown
};

// A literal, or a vector of literals, none of which is NaN, -0 or, where `zero` is false, 0.
[[nodiscard]] bool plain_literal(const ir::Code& code, ir::ExprId id, bool zero);

}  // namespace wye::lower
