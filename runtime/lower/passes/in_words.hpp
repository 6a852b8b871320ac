// SPDX-License-Identifier: Apache-2.0
//
// The definitions of the math functions without f64 and 64-bit integers: each value of such a type
// is two words of 32 bits, and each operation on it a call of `../math/words.wye`. Pure;
// thread-safe.
#pragma once

#include "wye/sdk/program.hpp"

namespace wye::lower {

// `words`: valid functions, which come first in the result: the operations, and definitions that
// take the place of those of `library` with the same names. `library`: valid definitions; left out
// are those with a value or an operation that has no form in words. Names stay. The result is not
// validated.
[[nodiscard]] ir::Program in_words(const ir::Program& words, const ir::Program& library);

}  // namespace wye::lower
