// SPDX-License-Identifier: Apache-2.0
//
// f16 literals: the writers hold f16 values as f32 of the same value. Pure.
#pragma once

#include <cstdint>

namespace wye::lower {

// The bits of the f32 with the value of an f16, given by its bits.
[[nodiscard]] std::uint32_t f32_of_f16(std::uint64_t bits);

}  // namespace wye::lower
