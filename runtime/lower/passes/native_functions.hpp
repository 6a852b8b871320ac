// SPDX-License-Identifier: Apache-2.0
//
// Chooses the operations that an error budget allows in native form: division, square root and math
// functions for which the dialect's specification states a maximum error within the budget. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "lower/lower.hpp"
#include "wye/sdk/program.hpp"

namespace wye::lower {

// A dialect's native form of an operation.
struct NativeForm {
    double ulp;             // the stated maximum error
    std::string_view word;  // a function's name, `/`, or an instruction (with a dot); SPIR-V: empty
    std::uint32_t number;   // SPIR-V: the instruction's number in GLSL.std.450
};

// The native form of an operation. Null: the dialect has none, or does not state a bound in ulp for
// all operands.
[[nodiscard]] const NativeForm* native_form(std::string_view format, ir::Op op, ir::Kind kind);

// The bit of an operation on a type; 0 for operations without a native form.
[[nodiscard]] NativeSet native_bit(ir::Op op, ir::Kind kind);
// The operation that a bit stands for, "sin (f32)"; "" for an unused bit. Static storage.
[[nodiscard]] const char* native_name(unsigned bit);

// The operations of the program that the budget makes native. Empty for a budget of 0.
[[nodiscard]] NativeSet choose_natives(const ir::Program& program, std::string_view format,
                                       std::uint32_t ulp_budget);

}  // namespace wye::lower
