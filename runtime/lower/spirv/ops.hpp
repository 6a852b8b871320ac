// SPDX-License-Identifier: Apache-2.0
//
// Scalar operations of the language as SPIR-V. Pure values in, values out: no control flow.
#pragma once

#include "lower/spirv/builder.hpp"

namespace wye::lower {

// An operator or exact function on operands of one kind (shift and rotate counts excepted).
[[nodiscard]] Id spirv_operation(SpirvBuilder& b, ir::Op op, ir::Kind kind,
                                 std::span<const Id> operands);
[[nodiscard]] Id spirv_conversion(SpirvBuilder& b, ir::Kind from, ir::Kind to, Id value);
// A NaN becomes the canonical one; other values pass.
[[nodiscard]] Id spirv_canonical(SpirvBuilder& b, ir::Kind kind, Id value);

// The bits of a float without its sign exceed those of infinity.
[[nodiscard]] Id spirv_isnan(SpirvBuilder& b, ir::Kind kind, Id value);

// Parts of spirv_operation: integers, floats. 0: not an operation of this part.
[[nodiscard]] Id spirv_integer_operation(SpirvBuilder& b, ir::Op op, ir::Kind kind,
                                         std::span<const Id> operands);
[[nodiscard]] Id spirv_float_operation(SpirvBuilder& b, ir::Op op, ir::Kind kind,
                                       std::span<const Id> operands);

}  // namespace wye::lower
