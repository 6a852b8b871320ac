// SPDX-License-Identifier: Apache-2.0
//
// For the quirk `ptxas-lost-minus`: finds values that a compiler may see as a negation. ptxas drops
// the negation if the value is an operand of two nested minima or maxima.
#pragma once

#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

class Negations {
  public:
    Negations(const ir::Program& program, const ir::Code& code);

    // Whether the value may be a negation. If false, no compiler can turn the value into one.
    [[nodiscard]] bool possible(ir::ExprId id) const;

  private:
    const ir::Program& program_;
    const ir::Code& code_;
    std::vector<bool> locals_;  // by local: false for a let whose value cannot be a negation
};

}  // namespace wye::lower
