// SPDX-License-Identifier: Apache-2.0
//
// For the quirk `nvvm-powers`: integer products of a variable with itself. NVVM unrolls loops and
// writes the variable as a polynomial of its value before the loop, whose terms double with each
// product.
#pragma once

#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

class Powers {
  public:
    Powers() = default;  // none
    explicit Powers(const ir::Code& code);

    // True if `id` is such a product, or may be one: of more than 64 variables, some are not told
    // apart. Products that depend on themselves through a long chain of assignments are missed.
    [[nodiscard]] bool has(ir::ExprId id) const { return id < found_.size() && found_[id]; }

  private:
    std::vector<bool> found_;  // by expression; empty: none
};

}  // namespace wye::lower
