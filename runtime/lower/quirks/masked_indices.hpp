// SPDX-License-Identifier: Apache-2.0
//
// For the quirk `llvm-masked-affine-index`: the operations that keep only low bits of a value that
// a loop steps through, where the result is an index, or what a variable goes on from. Pure.
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

    // True for an AND, REM, DIV, SHR or CONVERT whose result the compiler must not see through.
    // `function`: its number; ir::kNone: main.
    [[nodiscard]] bool has(std::uint32_t function, ir::ExprId id) const {
        if (codes_.empty()) return false;
        const auto& marks = codes_[function == ir::kNone ? codes_.size() - 1 : function];
        return !marks.empty() && marks[id];
    }

  private:
    std::vector<std::vector<bool>> codes_;  // of the functions, then of main; empty: none
};

}  // namespace wye::lower
