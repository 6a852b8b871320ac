// SPDX-License-Identifier: Apache-2.0
//
// Operations that an error budget allows in native form: division, square root and math functions
// for which a dialect's specification states a maximum error within the budget. Pure.
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
    std::uint32_t number;   // SPIR-V: of GLSL.std.450
};

// Null: the dialect has none, or states no bound in ulp for all operands.
[[nodiscard]] const NativeForm* native_form(std::string_view format, ir::Op op, ir::Kind kind);

// One bit for each operation and type; 0 for other operations.
[[nodiscard]] NativeSet native_bit(ir::Op op, ir::Kind kind);
// "sin (f32)"; "" for an unused bit. Static.
[[nodiscard]] const char* native_name(unsigned bit);

// Operations of the program that the budget makes native. Empty for a budget of 0.
[[nodiscard]] NativeSet choose_natives(const ir::Program& program, std::string_view format,
                                       std::uint32_t ulp_budget);

}  // namespace wye::lower
