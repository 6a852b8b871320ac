// SPDX-License-Identifier: Apache-2.0
#include "element.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "wye/sdk/numbers.hpp"

namespace wye::tool {
namespace {

using enum Numbers;

constexpr std::array<Scalar, 12> kScalars = {{
    {"f32", 4, Float, 24, "f4"},
    {"f64", 8, Float, 53, "f8"},
    {"f16", 2, Float, 11, "f2"},
    {"bf16", 2, Float, 8, ""},
    {"i8", 1, Signed, 0, "i1"},
    {"i16", 2, Signed, 0, "i2"},
    {"i32", 4, Signed, 0, "i4"},
    {"i64", 8, Signed, 0, "i8"},
    {"u8", 1, Unsigned, 0, "u1"},
    {"u16", 2, Unsigned, 0, "u2"},
    {"u32", 4, Unsigned, 0, "u4"},
    {"u64", 8, Unsigned, 0, "u8"},
}};

// Properties of a float of 16 bits whose significand has `digits` bits with the hidden one.
constexpr unsigned exponent_mask(std::uint32_t digits) { return (1U << (16 - digits)) - 1; }
constexpr int least_exponent(std::uint32_t digits) {
    return 2 - static_cast<int>(1U << (15 - digits));
}

// Rounds to the nearest float, ties to even. Returns the bits of infinity if the result is too
// large.
std::uint64_t short_float_bits(double value, std::uint32_t digits) {
    const unsigned infinity = exponent_mask(digits) << (digits - 1);
    const std::uint64_t sign = std::signbit(value) ? 0x8000U : 0;
    const double size = std::fabs(value);
    if (std::isnan(value)) return infinity | 1U << (digits - 2);
    if (std::isinf(value) || size == 0) return sign | (size == 0 ? 0 : infinity);
    const int least = least_exponent(digits);
    const int exponent = std::max(std::ilogb(size), least);
    const double scaled = std::nearbyint(std::ldexp(size, static_cast<int>(digits) - 1 - exponent));
    if (exponent > -least + 1) return sign | infinity;
    const std::uint64_t bits = static_cast<std::uint64_t>(scaled) +
                               (static_cast<std::uint64_t>(exponent - least) << (digits - 1));
    return sign | std::min<std::uint64_t>(bits, infinity);
}

double short_float(std::uint64_t bits, std::uint32_t digits) {
    const std::uint64_t exponent = bits >> (digits - 1) & exponent_mask(digits);
    std::uint64_t significand = bits & ((1U << (digits - 1)) - 1);
    double size = 0;
    if (exponent == exponent_mask(digits)) {
        size = significand == 0 ? std::numeric_limits<double>::infinity()
                                : std::numeric_limits<double>::quiet_NaN();
    } else {
        if (exponent != 0) significand |= 1U << (digits - 1);
        size = std::ldexp(static_cast<double>(significand),
                          static_cast<int>(std::max<std::uint64_t>(exponent, 1)) +
                              least_exponent(digits) - static_cast<int>(digits));
    }
    return (bits & 0x8000U) != 0 ? -size : size;
}

template <typename T>
std::optional<T> parsed(std::string_view text) {
    const auto value = sdk::parse_number<T>(text);
    return value && std::isnan(*value) ? std::numeric_limits<T>::quiet_NaN() : value;
}

std::optional<std::uint64_t> float_bits(const Scalar& scalar, std::string_view text) {
    if (scalar.bytes == 4) {
        const auto value = parsed<float>(text);
        if (value) return std::bit_cast<std::uint32_t>(*value);
        return std::nullopt;
    }
    const auto value = parsed<double>(text);
    if (!value) return std::nullopt;
    return bits_of_float(scalar, *value);
}

std::uint64_t greatest(const Scalar& scalar) {
    return UINT64_MAX >> (64 - 8 * scalar.bytes + (scalar.numbers == Signed ? 1 : 0));
}

std::optional<std::uint64_t> integer_bits(const Scalar& scalar, std::string_view digits) {
    const bool negative = digits.starts_with('-');
    if (negative) digits.remove_prefix(1);
    const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
    if (hex) digits.remove_prefix(2);
    const auto size = sdk::parse_number<std::uint64_t>(digits, hex ? 16 : 10);
    const std::uint64_t most =
        negative && scalar.numbers == Unsigned ? 0 : greatest(scalar) + (negative ? 1U : 0U);
    if (!size || *size > most) return std::nullopt;
    return (negative ? 0 - *size : *size) & UINT64_MAX >> (64 - 8 * scalar.bytes);
}

std::uint64_t read_bits(const Scalar& scalar, const std::byte* at) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, at, scalar.bytes);
    return bits;
}

}  // namespace

Element element_of(std::string_view type) {
    const std::size_t cross = type.find('x');
    const auto found = std::ranges::find(kScalars, type.substr(0, cross), &Scalar::name);
    const Scalar* const scalar = found == kScalars.end() ? kScalars.data() : &*found;
    return {scalar, cross == type.npos ? 1U : static_cast<std::uint32_t>(type[cross + 1] - '0')};
}

std::optional<std::uint64_t> bits_of(const Scalar& scalar, std::string_view text) {
    return scalar.numbers == Float ? float_bits(scalar, text) : integer_bits(scalar, text);
}

std::optional<std::uint64_t> bits_of_float(const Scalar& scalar, double value) {
    if (scalar.bytes == 8) return std::bit_cast<std::uint64_t>(value);
    if (scalar.bytes == 4) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    const std::uint64_t bits = short_float_bits(value, scalar.digits);
    const bool too_large = !std::isinf(value) && std::isinf(short_float(bits, scalar.digits));
    return too_large ? std::nullopt : std::optional(bits);
}

std::optional<std::uint64_t> bits_of_count(const Scalar& scalar, std::uint64_t value) {
    if (scalar.numbers == Float) return bits_of_float(scalar, static_cast<double>(value));
    return value <= greatest(scalar) ? std::optional(value) : std::nullopt;
}

std::string_view without_suffix(std::string_view text) {
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    const std::size_t last = text.find_last_not_of(hex ? "uUlL" : "fFhHuUlL");
    return last == text.npos ? text : text.substr(0, last + 1);
}

std::string range_of(const Scalar& scalar) {
    if (scalar.numbers != Float) {
        const std::uint64_t most = greatest(scalar);
        return fmt::format("{} to {}, or 0x and hexadecimal digits",
                           scalar.numbers == Signed ? fmt::format("-{}", most + 1) : "0", most);
    }
    std::string least, most;
    if (scalar.bytes == 2) {
        const std::uint64_t infinity = std::uint64_t{exponent_mask(scalar.digits)}
                                       << (scalar.digits - 1);
        least = fmt::format("{:.3g}", short_float(1, scalar.digits));
        most = fmt::format("{:.6g}", short_float(infinity - 1, scalar.digits));
    } else if (scalar.bytes == 4) {
        least = fmt::format("{}", std::numeric_limits<float>::denorm_min());
        most = fmt::format("{}", std::numeric_limits<float>::max());
    } else {
        least = fmt::format("{}", std::numeric_limits<double>::denorm_min());
        most = fmt::format("{}", std::numeric_limits<double>::max());
    }
    return fmt::format("0, {} to {} of either sign, inf or nan", least, most);
}

double float_of(const Scalar& scalar, const std::byte* at) {
    const std::uint64_t bits = read_bits(scalar, at);
    if (scalar.bytes == 8) return std::bit_cast<double>(bits);
    if (scalar.bytes == 4) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    return short_float(bits, scalar.digits);
}

std::string text_of(const Scalar& scalar, const std::byte* at) {
    const std::uint64_t bits = read_bits(scalar, at);
    if (scalar.numbers == Unsigned) return fmt::format("{}", bits);
    if (scalar.numbers == Signed) {
        const std::uint32_t above = 64 - 8 * scalar.bytes;
        return fmt::format("{}", static_cast<std::int64_t>(bits << above) >> above);
    }
    const double value = float_of(scalar, at);
    if (std::isnan(value)) return "nan";
    if (scalar.bytes == 8) return fmt::format("{}", value);
    if (scalar.bytes == 4) return fmt::format("{}", static_cast<float>(value));
    constexpr int kMostDigits = 9;
    std::string out;
    for (int digits = 1; digits <= kMostDigits; ++digits) {
        out = fmt::format("{:.{}g}", value, digits);
        if (bits_of(scalar, out) == bits) break;
    }
    return out;
}

}  // namespace wye::tool
