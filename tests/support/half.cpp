// SPDX-License-Identifier: Apache-2.0
#include "support/half.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace support {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// Rounds to `digits` bits of fraction, but to no smaller unit than 2^least. The result is infinite
// from `end` on. nearbyint rounds ties to even in the default rounding mode.
double rounded(double x, int digits, int least, double end) {
    if (x == 0 || !std::isfinite(x)) return x;
    const int step = std::max(std::ilogb(x) - digits, least);
    const double r = std::ldexp(std::nearbyint(std::ldexp(x, -step)), step);
    return std::fabs(r) >= end ? std::copysign(kInf, x) : r;
}

}  // namespace

double value_of_half(std::uint64_t bits) {
    const auto exponent = static_cast<int>(bits >> 10U & 31U);
    const auto fraction = static_cast<double>(bits & 1023U);
    const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
    if (exponent == 31)
        return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * kInf;
    if (exponent == 0) return sign * std::ldexp(fraction, -24);
    return sign * std::ldexp(1024 + fraction, exponent - 25);
}

std::uint16_t half_of_value(double value) {
    if (std::isnan(value)) return 0x7e00;
    const unsigned sign = std::signbit(value) ? 0x8000U : 0;
    const double x = std::fabs(rounded(value, 10, -24, 65536));
    if (std::isinf(x)) return static_cast<std::uint16_t>(sign | 0x7c00U);
    if (x < 0x1p-14) return static_cast<std::uint16_t>(sign | static_cast<unsigned>(x * 0x1p24));
    const int exponent = std::ilogb(x);
    const auto fraction = static_cast<unsigned>(std::ldexp(x, 10 - exponent)) - 1024U;
    return static_cast<std::uint16_t>(sign | static_cast<unsigned>(exponent + 15) << 10U |
                                      fraction);
}

std::uint16_t bf16_of_value(double value) {
    if (std::isnan(value)) return 0x7fc0;
    // A bf16 is the upper half of an f32, so the conversion is exact.
    const auto x = static_cast<float>(rounded(value, 7, -133, 0x1p128));
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16U);
}

}  // namespace support
