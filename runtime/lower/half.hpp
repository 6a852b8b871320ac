// SPDX-License-Identifier: Apache-2.0
//
// Converts f16 literals to f32: the writers hold an f16 value as the f32 of the same value. Pure.
#pragma once

#include <cstdint>

namespace wye::lower {

// Returns the bits of the f32 that has the same value as the f16 with these bits.
[[nodiscard]] std::uint32_t f32_of_f16(std::uint64_t bits);

}  // namespace wye::lower
