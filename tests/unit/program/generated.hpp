// SPDX-License-Identifier: Apache-2.0
//
// Random programs as the parser returns them, from the generator that all tests share
// (support/random_program.hpp), and altered copies of them. The same seed gives the same program.
#pragma once

#include <cstdint>

#include "wye/sdk/program.hpp"

namespace test {

// Valid: well typed, in scope, pure where it must be.
[[nodiscard]] wye::ir::Program generated(std::uint64_t seed);

// Valid, but like some wire forms: names of locals may be missing, duplicate or reserved; some
// programs have a variant.
[[nodiscard]] wye::ir::Program renamed(std::uint64_t seed);

// Structurally sound (it encodes), seldom well typed: operations, types, indices, literals and
// declarations are exchanged at random.
[[nodiscard]] wye::ir::Program scrambled(std::uint64_t seed);

}  // namespace test
