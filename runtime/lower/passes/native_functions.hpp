// SPDX-License-Identifier: Apache-2.0
//
// Chooses the operations that an error budget allows in a form that is not strict. A native form of
// division, square root or a math function is allowed if the dialect's specification states a
// maximum error within the budget. A function without a native form may use a definition in f32
// alone (../math/fast.wye). Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "lower/lower.hpp"
#include "wye/sdk/program.hpp"

namespace wye::lower {

// A dialect's native form of an operation.
struct NativeForm {
    double ulp;  // the stated maximum error
    // The name of a function, `/`, or a PTX instruction (which has a dot); empty for SPIR-V.
    std::string_view word;
    std::uint32_t number;  // SPIR-V: the instruction's number in GLSL.std.450
};

// Returns the native form of an operation, or null if the dialect has none or states no bound in
// ulp for all operands.
[[nodiscard]] const NativeForm* native_form(std::string_view format, ir::Op op, ir::Kind kind);

// Returns the operations in `set` that have a native form in the format. For the other operations
// in `set` the library has definitions `fast_OP_f32` (../math/fast.wye).
[[nodiscard]] NativeSet native_in(std::string_view format, NativeSet set);

// Returns the bit of an operation on a type, or 0 if the operation has no native form.
[[nodiscard]] NativeSet native_bit(ir::Op op, ir::Kind kind);
// Returns the operation that a bit stands for, such as "sin (f32)", or "" for an unused bit. Static
// storage.
[[nodiscard]] const char* native_name(unsigned bit);

// Returns the operations of the program that the budget makes native or fast; none for a budget of
// 0.
[[nodiscard]] NativeSet choose_natives(const ir::Program& program, std::string_view format,
                                       std::uint32_t ulp_budget);

}  // namespace wye::lower
