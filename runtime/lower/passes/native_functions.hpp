// SPDX-License-Identifier: Apache-2.0
//
// What an error budget opens: division, square root and math functions in a dialect's own form,
// where its specification states a largest error in ulp that is within the budget. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "lower/lower.hpp"
#include "wye/sdk/program.hpp"

namespace wye::lower {

// A dialect's own form of an operation.
struct NativeForm {
    double ulp;             // the largest error that is stated
    std::string_view word;  // a function's name, `/`, or an instruction (with a dot); SPIR-V: empty
    std::uint32_t number;   // SPIR-V: of GLSL.std.450
};

// Null: the dialect has none, or states no bound in ulp that holds for every operand.
[[nodiscard]] const NativeForm* native_form(std::string_view format, ir::Op op, ir::Kind kind);

// One bit for each operation and type; 0 for other operations.
[[nodiscard]] NativeSet native_bit(ir::Op op, ir::Kind kind);
// "sin (f32)"; "" for a bit that has no meaning. Static.
[[nodiscard]] const char* native_name(unsigned bit);

// What of the program becomes native within the budget. 0 of a budget of 0.
[[nodiscard]] NativeSet choose_natives(const ir::Program& program, std::string_view format,
                                       std::uint32_t ulp_budget);

}  // namespace wye::lower
