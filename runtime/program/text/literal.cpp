// SPDX-License-Identifier: Apache-2.0
#include "program/text/literal.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <system_error>

namespace wye::ir {
namespace {

struct Format {
    int significand;   // number of bits, including the hidden one
    int max_exponent;  // the greatest exponent of the leading bit
    int bits;          // the format's width in bits
    [[nodiscard]] int min_exponent() const { return 1 - max_exponent; }
    [[nodiscard]] int stored() const { return significand - 1; }
};

Format format_of(Type type) {
    if (type.kind == Kind::F16) return {11, 15, 16};
    if (type.kind == Kind::F64) return {53, 1023, 64};
    return {24, 127, 32};
}

// Rounds significand * 2^exponent to the nearest value of the format, ties to even. `sticky`: lower
// bits were lost before. Returns infinity's bits on overflow.
std::uint64_t round_to(Format format, std::uint64_t significand, std::int64_t exponent,
                       bool sticky) {
    if (significand == 0) return 0;
    const int shift = std::countl_zero(significand);
    significand <<= shift;
    exponent -= shift;
    const std::int64_t leading = exponent + 63;  // the exponent of the top bit
    if (leading > format.max_exponent)
        return std::uint64_t(2 * format.max_exponent + 1) << format.stored();
    // How many of the 64 bits are dropped. Subnormal values drop more bits.
    std::int64_t drop = 64 - format.significand;
    if (leading < format.min_exponent()) drop += format.min_exponent() - leading;
    std::uint64_t kept = 0;
    if (drop <= 64) {
        const std::uint64_t lost = drop == 64 ? significand : significand << (64 - drop);
        kept = drop == 64 ? 0 : significand >> drop;
        const std::uint64_t half = std::uint64_t(1) << 63;
        if (lost > half || (lost == half && (sticky || (kept & 1) != 0))) ++kept;
    }
    // The hidden bit of normal numbers, and any carry, adds one to the exponent field.
    const std::int64_t field =
        leading < format.min_exponent() ? 0 : leading + format.max_exponent - 1;
    return (static_cast<std::uint64_t>(field) << format.stored()) + kept;
}

std::uint64_t f16_from_f64(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t fraction = bits & ((std::uint64_t(1) << 52) - 1);
    const auto field = static_cast<std::int64_t>((bits >> 52) & 0x7ff);
    const std::uint64_t significand = field == 0 ? fraction : fraction | (std::uint64_t(1) << 52);
    return round_to({11, 15, 16}, significand, std::max<std::int64_t>(field, 1) - 1075, false);
}

double f64_from_f16(std::uint64_t bits) {
    const auto field = static_cast<int>((bits >> 10) & 0x1f);
    const auto fraction = static_cast<double>(bits & 0x3ff);
    const double size =
        field == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024.0 + fraction, field - 25);
    return (bits & 0x8000) != 0 ? -size : size;
}

// Whether a decimal that is out of range for from_chars is too large, judged by the weight of its
// first digit. If not, it is too small and rounds to zero.
bool decimal_is_large(const std::string& digits) {
    const std::size_t mark = std::min(digits.find_first_of("eE"), digits.size());
    const std::size_t point = std::min(digits.find('.'), mark);
    const std::size_t first = digits.find_first_of("123456789");
    if (first >= mark) return false;
    std::int64_t weight = first < point ? static_cast<std::int64_t>(point - first)
                                        : -static_cast<std::int64_t>(first - point);
    if (mark < digits.size()) {
        const bool negative = digits[mark + 1] == '-';
        std::int64_t exponent = 0;
        for (const char c : digits.substr(mark + 1))
            if (c >= '0' && c <= '9')
                exponent = std::min<std::int64_t>(exponent * 10 + (c - '0'), 1LL << 40);
        weight += negative ? -exponent : exponent;
    }
    return weight > 0;
}

template <typename Float, typename Bits>
std::uint64_t decimal_bits(const std::string& digits) {
    Float value = 0;
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (end.ec == std::errc::result_out_of_range)
        value = decimal_is_large(digits) ? std::numeric_limits<Float>::infinity() : Float(0);
    return std::bit_cast<Bits>(value);
}

std::uint64_t decimal_to(Type type, const std::string& digits) {
    if (type.kind == Kind::F32) return decimal_bits<float, std::uint32_t>(digits);
    const std::uint64_t wide = decimal_bits<double, std::uint64_t>(digits);
    if (type.kind == Kind::F64) return wide;
    const auto value = std::bit_cast<double>(wide);
    return std::isinf(value) ? infinity_bits(type, false) : f16_from_f64(value);
}

// Converts a hexadecimal float such as "1.8p3", given without 0x.
std::uint64_t hex_to(Type type, const std::string& digits) {
    std::uint64_t significand = 0;
    std::int64_t exponent = 0;
    bool sticky = false;
    bool fraction = false;
    std::size_t i = 0;
    for (; i < digits.size() && digits[i] != 'p' && digits[i] != 'P'; ++i) {
        const char c = digits[i];
        if (c == '.') {
            fraction = true;
            continue;
        }
        const unsigned value = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
        if (significand >> 60 == 0) {
            significand = significand << 4 | value;
            if (fraction) exponent -= 4;
        } else {
            sticky = sticky || value != 0;
            if (!fraction) exponent += 4;
        }
    }
    std::int64_t written = 0;
    const bool negative = digits[i + 1] == '-';
    for (++i; i < digits.size(); ++i)
        if (digits[i] >= '0' && digits[i] <= '9')
            written = std::min<std::int64_t>(written * 10 + (digits[i] - '0'), 1LL << 40);
    exponent += negative ? -written : written;
    return round_to(format_of(type), significand, exponent, sticky);
}

// Normalises the output of std::to_chars: "1e+30" to "1e30", "1e-05" to "1e-5", "100" to "100.0".
std::string tidy(std::string_view text) {
    const std::size_t mark = text.find('e');
    std::string out(text.substr(0, mark));
    if (mark == std::string_view::npos)
        return out.find('.') == std::string::npos ? out + ".0" : out;
    out += 'e';
    std::string_view exponent = text.substr(mark + 1);
    if (exponent.front() == '-') out += '-';
    exponent.remove_prefix(exponent.front() == '-' || exponent.front() == '+' ? 1 : 0);
    while (exponent.size() > 1 && exponent.front() == '0') exponent.remove_prefix(1);
    return out += exponent;
}

template <typename Float>
std::string shortest(Float value) {
    char buffer[64];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value);
    return tidy({buffer, static_cast<std::size_t>(end.ptr - buffer)});
}

// Returns the fewest digits that read back to the same f16. Five always suffice.
std::string shortest_f16(std::uint64_t magnitude) {
    const double value = f64_from_f16(magnitude);
    for (int digits = 1; digits <= 17; ++digits) {
        char buffer[64];
        const auto end = std::to_chars(buffer, buffer + sizeof buffer, value,
                                       std::chars_format::scientific, digits - 1);
        const std::string text(buffer, end.ptr);
        if (decimal_to(kF16, text) != magnitude) continue;
        double near = 0;
        std::from_chars(text.data(), text.data() + text.size(), near);
        return shortest(near);
    }
    return shortest(value);
}

}  // namespace

std::uint64_t canonical_nan(Type type) {
    if (type.kind == Kind::F16) return 0x7e00;
    return type.kind == Kind::F64 ? 0x7ff8000000000000ULL : 0x7fc00000ULL;
}

std::uint64_t infinity_bits(Type type, bool negative) {
    const Format format = format_of(type);
    const std::uint64_t positive = std::uint64_t(2 * format.max_exponent + 1) << format.stored();
    return positive | (std::uint64_t(negative) << (format.bits - 1));
}

bool is_nan(Type type, std::uint64_t bits) {
    const Format format = format_of(type);
    const std::uint64_t magnitude = bits & ((std::uint64_t(1) << (format.bits - 1)) - 1);
    return type.floating() && magnitude > infinity_bits(type, false);
}

std::int64_t signed_value(Type type, std::uint64_t bits) {
    return type.bits() == 32 && type.signed_integer() ? static_cast<std::int32_t>(bits)
                                                      : static_cast<std::int64_t>(bits);
}

LiteralValue literal_value(const Number& number, bool negative) {
    // A malformed number has no type, so that its uses are not reported.
    if (!number.problem.empty()) return {};
    LiteralValue out{number.type, 0, {}, {}};
    const std::string name = type_name(number.type);
    if (number.form != Number::Form::Integer) {
        out.bits = number.form == Number::Form::Hex ? hex_to(number.type, number.digits)
                                                    : decimal_to(number.type, number.digits);
        if (out.bits == infinity_bits(number.type, false)) {
            out.problem = fmt::format("this literal is beyond the largest finite {}", name);
            out.fix = fmt::format("Fix: write `inf_{}`, or use a wider type", name);
        }
        out.bits |= std::uint64_t(negative) << (format_of(number.type).bits - 1);
        return out;
    }
    const unsigned width = number.type.bits();
    const std::uint64_t ones = width == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << width) - 1;
    const std::uint64_t largest =
        number.type.signed_integer() ? (ones >> 1) + (negative ? 1 : 0) : ones;
    if (negative && number.type.unsigned_integer()) {
        out.problem = fmt::format("a {} literal cannot be negative", name);
        out.fix =
            fmt::format("Fix: write the wrapped value, or `0{} - x`", width == 32 ? "u" : "u64");
    } else if (!number.fits || number.magnitude > largest) {
        out.problem = fmt::format("this literal is outside the range of {} ({})", name,
                                  number.type.signed_integer()
                                      ? fmt::format("-{} to {}", (ones >> 1) + 1, ones >> 1)
                                      : fmt::format("0 to {}", ones));
        if (!number.fits) {
            out.fix = "Fix: no integer type holds it";
        } else if (width == 32 && number.type.signed_integer() && !negative &&
                   number.magnitude <= 0xffffffffULL) {
            out.fix = "Fix: add the suffix `u` (u32) or `i64`";
        } else {
            out.fix = fmt::format("Fix: add the suffix `i64`{}", negative ? "" : " or `u64`");
            if (width == 64)
                out.fix = negative ? "Fix: no integer type holds it" : "Fix: add the suffix `u64`";
        }
    }
    out.bits = (negative ? ~number.magnitude + 1 : number.magnitude) & ones;
    return out;
}

std::string literal_text(Type type, std::uint64_t bits) {
    switch (type.kind) {
        case Kind::BOOL:
            return bits != 0 ? "true" : "false";
        case Kind::I32:
            return std::to_string(signed_value(type, bits));
        case Kind::U32:
            return std::to_string(static_cast<std::uint32_t>(bits)) + "u";
        case Kind::I64:
            return std::to_string(signed_value(type, bits)) + "i64";
        case Kind::U64:
            return std::to_string(bits) + "u64";
        default:
            break;
    }
    const std::string name = type_name(type);
    if (is_nan(type, bits)) return "nan_" + name;
    const std::uint64_t sign = std::uint64_t(1) << (format_of(type).bits - 1);
    const std::string minus = (bits & sign) != 0 ? "-" : "";
    const std::uint64_t magnitude = bits & (sign - 1);
    if (magnitude == infinity_bits(type, false)) return minus + "inf_" + name;
    if (type.kind == Kind::F16) return minus + shortest_f16(magnitude) + name;
    if (type.kind == Kind::F64) return minus + shortest(std::bit_cast<double>(magnitude)) + name;
    return minus + shortest(std::bit_cast<float>(static_cast<std::uint32_t>(magnitude)));
}

}  // namespace wye::ir
