// SPDX-License-Identifier: Apache-2.0
//
// For the quirk `nvvm-powers`: finds integer products of a variable with itself. NVVM unrolls loops
// and expresses the variable as a polynomial of its value before the loop. The number of terms of
// the polynomial doubles with each product.
#pragma once

#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

class Powers {
  public:
    Powers() = default;  // no products
    explicit Powers(const ir::Code& code);

    // Whether `id` is, or may be, such a product. With more than 64 variables, some count as the
    // same variable. Products that depend on themselves through a long chain of assignments are
    // missed.
    [[nodiscard]] bool has(ir::ExprId id) const { return id < found_.size() && found_[id]; }

  private:
    std::vector<bool> found_;  // by expression; empty if there are none
};

}  // namespace wye::lower
