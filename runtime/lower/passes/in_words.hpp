// SPDX-License-Identifier: Apache-2.0
//
// Rewrites the definitions of the math functions for devices without f64 or 64-bit integers. A
// 64-bit value becomes two words of 32 bits, and an operation on it becomes a call of a function of
// `../math/words.wye`. Pure; thread-safe.
#pragma once

#include "wye/sdk/program.hpp"

namespace wye::lower {

// `words` and `library` are valid. The functions of `words` come first in the result: the
// operations on words, and definitions that replace those of `library` with the same names. The
// rewritten functions of `library` follow under their old names, without those in which a value or
// an operation has no form in words. The result is not validated.
[[nodiscard]] ir::Program in_words(const ir::Program& words, const ir::Program& library);

}  // namespace wye::lower
