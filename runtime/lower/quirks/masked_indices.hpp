// SPDX-License-Identifier: Apache-2.0
//
// For the quirk `llvm-masked-affine-index`: finds operations that drop bits of a value that changes
// by a fixed step in a loop, if the result is used for an index or in a sum that is assigned to a
// variable. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

class MaskedIndices {
  public:
    MaskedIndices() = default;
    MaskedIndices(const ir::Program& program, std::array<std::uint32_t, 3> workgroup);

    // Whether the result of an AND, REM, DIV, SHR or CONVERT must be hidden from the compiler.
    // `function` is a function index, or ir::kNone for main.
    [[nodiscard]] bool has(std::uint32_t function, ir::ExprId id) const {
        if (codes_.empty()) return false;
        const auto& marks = codes_[function == ir::kNone ? codes_.size() - 1 : function];
        return !marks.empty() && marks[id];
    }

  private:
    std::vector<std::vector<bool>> codes_;  // one entry for each function, then main's; empty: none
};

}  // namespace wye::lower
