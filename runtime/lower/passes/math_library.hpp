// SPDX-License-Identifier: Apache-2.0
//
// The portable definition of the math functions (math set 1): functions and tables written in the
// language, in runtime/lower/math. The scalar function of an operation is named `math_OP_TYPE`
// (`math_sin_f32`); the others are helpers. Changing one bit of a result needs a new set number.
#pragma once

#include "wye/sdk/program.hpp"

namespace wye::lower {

// Returns the library, which is parsed on first use and is the same object from then on. Types of
// expressions are set; positions are not. Its `main` is empty. Thread-safe.
[[nodiscard]] const ir::Program& math_library();

}  // namespace wye::lower
