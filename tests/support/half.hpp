// SPDX-License-Identifier: Apache-2.0
//
// Conversions to and from f16 and bf16. They compute exactly in double and round by scaling, unlike
// the methods of devices and plugins. Pure; the thread must have the default rounding mode.
#pragma once

#include <cstdint>

namespace support {

// The value of an f16; any NaN gives NaN.
double value_of_half(std::uint64_t bits);
// The nearest f16, with ties to even; infinite above the largest f16; any NaN gives the canonical
// NaN.
std::uint16_t half_of_value(double value);
// Like `half_of_value`, for bf16.
std::uint16_t bf16_of_value(double value);

}  // namespace support
