// SPDX-License-Identifier: Apache-2.0
//
// Float arithmetic on literals, for targets whose compilers fold it wrongly. Pure; keeps the
// caller's rounding mode.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "wye/sdk/program.hpp"

namespace wye::lower::middle {

// Returns the bits of the result of `op` (ADD, SUB, MUL, DIV, SQRT, FMA) on f32 or f64 operands
// with these bits; empty for other operations. NaN results are canonical.
[[nodiscard]] std::optional<std::uint64_t> literal_arithmetic(
    ir::Op op, ir::Kind kind, const std::array<std::uint64_t, 3>& operands);

}  // namespace wye::lower::middle
