// SPDX-License-Identifier: Apache-2.0
//
// Expressions that only move the bytes of one word. Drivers do not recognise a byte swap by shifts
// and masks, though they have one instruction for it. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "wye/sdk/program.hpp"

namespace wye::lower {

struct ByteMoves {
    ir::ExprId word = ir::kNone;             // a local, u32
    std::array<int, 4> from = {0, 1, 2, 3};  // by byte of the result, lowest first; -1: zero
    unsigned operations = 0;                 // of the expression itself
};

// For a scalar u32 expression of |, &, and shifts and rotations by literals.
[[nodiscard]] std::optional<ByteMoves> byte_moves(const ir::Code& code, ir::ExprId id);

}  // namespace wye::lower
