// SPDX-License-Identifier: Apache-2.0
//
// The portable definitions of the math functions: functions and tables written in the language, in
// runtime/lower/math. The scalar function of an operation is named `math_OP_TYPE` (`math_sin_f32`),
// and `math2_OP_TYPE` where math set 2 redefines or adds the operation; all other functions are
// helpers. A change of one bit of a result needs a new set number, unless the change corrects a
// result that set 2 defines as correctly rounded.
#pragma once

#include "wye/sdk/program.hpp"

namespace wye::lower {

// Returns the library, which is parsed on first use and is the same object from then on. Types of
// expressions are set; positions are not. Its `main` is empty. Thread-safe.
[[nodiscard]] const ir::Program& math_library();

// Returns the same library with `pairs_OP_f32`, which compute most results of `math2_OP_f32` in
// pairs of f32.
[[nodiscard]] const ir::Program& math_library_with_pairs();

// Returns the library with pairs, rewritten in words of 32 bits (in_words.hpp). The result contains
// all that the f32 functions need, under the same names. Types of its expressions are not set.
[[nodiscard]] const ir::Program& math_library_in_words();

}  // namespace wye::lower
