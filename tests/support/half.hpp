// SPDX-License-Identifier: Apache-2.0
//
// Conversions of f16 and bf16, by exact arithmetic in double and rounding by scaling: independent
// of the methods of devices and plugins. Pure; needs the default rounding mode.
#pragma once

#include <cstdint>

namespace support {

// The value of an f16, NaN for any NaN.
double value_of_half(std::uint64_t bits);
// The nearest f16, ties to even; infinite beyond the largest; the canonical NaN for any NaN.
std::uint16_t half_of_value(double value);
// Like `half_of_value`, for bf16.
std::uint16_t bf16_of_value(double value);

}  // namespace support
