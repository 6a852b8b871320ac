// SPDX-License-Identifier: Apache-2.0
//
// Finds expressions that only move the bytes of one word. Drivers do not recognise a byte swap
// written with shifts and masks, although they have one instruction for it. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "wye/sdk/program.hpp"

namespace wye::lower {

struct ByteMoves {
    ir::ExprId word = ir::kNone;  // the u32 local whose bytes are moved
    // Source byte of each byte of the result, lowest first; -1: zero.
    std::array<int, 4> from = {0, 1, 2, 3};
    unsigned operations = 0;  // how many operations the expression has
};

// Analyses a scalar u32 expression of |, &, and shifts and rotations by literals. Returns nothing
// if the expression does more than move bytes.
[[nodiscard]] std::optional<ByteMoves> byte_moves(const ir::Code& code, ir::ExprId id);

}  // namespace wye::lower
