// SPDX-License-Identifier: Apache-2.0
//
// The portable definitions of the math functions: functions and tables written in the language, in
// runtime/lower/math. The scalar function of an operation is named `math_OP_TYPE` (`math_sin_f32`),
// and `math2_OP_TYPE` where math set 2 defines it anew or adds it; the others are helpers. Changing
// one bit of a result needs a new set number, unless set 2 asks for the correctly rounded one.
#pragma once

#include "wye/sdk/program.hpp"

namespace wye::lower {

// Returns the library, which is parsed on first use and is the same object from then on. Types of
// expressions are set; positions are not. Its `main` is empty. Thread-safe.
[[nodiscard]] const ir::Program& math_library();

// The same in words of 32 bits (in_words.hpp), with the same names: what f32 functions need is
// there. Types of its expressions are not set.
[[nodiscard]] const ir::Program& math_library_in_words();

}  // namespace wye::lower
