// SPDX-License-Identifier: Apache-2.0
//
// What may turn out to be the negative of another value. ptxas loses the minus where that is the
// operand of two minima or maxima in a row.
#pragma once

#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

class Negations {
  public:
    Negations(const ir::Program& program, const ir::Code& code);

    // False where no compiler can find a negation.
    [[nodiscard]] bool possible(ir::ExprId id) const;

  private:
    const ir::Program& program_;
    const ir::Code& code_;
    std::vector<bool> locals_;  // false: lets of what cannot be one
};

}  // namespace wye::lower
