// SPDX-License-Identifier: Apache-2.0
//
// The pure operations of the language on values, as the language defines them. Needs the host's
// default rounding (nearest even), and no contraction of floats by the compiler.
#pragma once

#include <cstdint>
#include <span>

#include "oracle/value.hpp"

namespace oracle {

// Operations on one component. Bits outside the kind are zero in operands and results.
double to_double(unsigned kind, std::uint64_t bits);         // exact; f16, f32, f64, bf16
std::uint16_t half_from_double(double value);                // nearest even, one rounding
std::uint16_t bf16_from_float(float value);                  // nearest even
std::uint64_t canonical(unsigned kind, std::uint64_t bits);  // NaNs of any float kind
std::int64_t to_signed(unsigned kind, std::uint64_t bits);   // sign-extended
std::uint64_t convert(unsigned to, unsigned from, std::uint64_t bits);

// Applies an operation: operators, exact functions, SELECT, CONSTRUCT, SPLAT, COMPONENT, CONVERT
// and BITCAST (op: enum wye_opcode; imm as in program_format.h). Refuses math functions and
// operands of wrong types.
Value apply(std::uint32_t op, std::uint32_t imm, std::span<const Value> operands);

// As `apply`, for two scalars or vectors. Used by atomics and subgroup operations.
Value apply2(std::uint32_t op, const Value& a, const Value& b);

}  // namespace oracle
