// SPDX-License-Identifier: Apache-2.0
//
// Operations of the language on one component. wye-language(7) has their exact results. A component
// has 64 bits; unused bits are zero. A bool is 0 or 1.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "wye/sdk/program.hpp"

namespace driver {

using wye::ir::Kind;
using wye::ir::Op;

template <typename T>
using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <typename T>
T value_of(std::uint64_t bits) {
    return std::bit_cast<T>(static_cast<Bits<T>>(bits));
}
// Returns the bits of a value. Every NaN has the same bits.
template <typename T>
std::uint64_t bits_of(T value) {
    if constexpr (std::floating_point<T>)
        if (std::isnan(value)) return sizeof(T) == 8 ? 0x7ff8000000000000U : 0x7fc00000U;
    return std::bit_cast<Bits<T>>(value);
}

// Calls body(T{}), where T is the C++ type of `kind`. Not for f16, which has no C++ type.
template <typename Body>
std::uint64_t with_type(Kind kind, Body&& body) {
    switch (kind) {
        case Kind::I32:
            return body(std::int32_t{});
        case Kind::I64:
            return body(std::int64_t{});
        case Kind::U64:
            return body(std::uint64_t{});
        case Kind::F32:
            return body(float{});
        case Kind::F64:
            return body(double{});
        default:  // U32, and BOOL, which is 0 or 1
            return body(std::uint32_t{});
    }
}

template <std::floating_point T>
std::uint64_t unary(Op op, T x) {
    switch (op) {
        case Op::NEG:
            return bits_of(-x);
        case Op::ABS:
            return bits_of(std::fabs(x));
        case Op::SQRT:
            return bits_of(std::sqrt(x));
        case Op::FLOOR:
            return bits_of(std::floor(x));
        case Op::CEIL:
            return bits_of(std::ceil(x));
        case Op::TRUNC:
            return bits_of(std::trunc(x));
        case Op::ROUND:  // ties to even
            return bits_of(std::nearbyint(x));
        case Op::ISNAN:
            return std::isnan(x);
        default:  // ISINF
            return std::isinf(x);
    }
}

template <std::integral T>
std::uint64_t unary(Op op, T x) {
    const auto bits = static_cast<Bits<T>>(x);
    constexpr int kWidth = std::numeric_limits<Bits<T>>::digits;
    switch (op) {
        case Op::NEG:
            return Bits<T>{0} - bits;
        case Op::NOT:
            return static_cast<Bits<T>>(~bits);
        case Op::LOGICAL_NOT:
            return bits ^ 1U;
        case Op::ABS:
            return x < 0 ? Bits<T>{0} - bits : bits;
        case Op::POPCOUNT:
            return static_cast<std::uint64_t>(std::popcount(bits));
        case Op::CLZ:
            return static_cast<std::uint64_t>(std::countl_zero(bits));
        case Op::CTZ:
            return static_cast<std::uint64_t>(std::countr_zero(bits));
        default: {  // REVERSE_BITS
            std::uint64_t out = 0;
            for (int i = 0; i < kWidth; ++i) out = out << 1U | (bits >> i & 1U);
            return out;
        }
    }
}

template <typename T>
std::uint64_t compare(Op op, T x, T y) {
    switch (op) {
        case Op::EQ:
            return x == y;
        case Op::NE:
            return x != y;
        case Op::LT:
            return x < y;
        case Op::LE:
            return x <= y;
        case Op::GT:
            return x > y;
        default:  // GE
            return x >= y;
    }
}

template <std::floating_point T>
std::uint64_t binary(Op op, T x, T y) {
    switch (op) {
        case Op::ADD:
            return bits_of(x + y);
        case Op::SUB:
            return bits_of(x - y);
        case Op::MUL:
            return bits_of(x * y);
        case Op::DIV:
            return bits_of(x / y);
        case Op::MIN:  // a number wins over a NaN; -0 is below +0
            if (x == y) return bits_of(x) | bits_of(y);
            return bits_of(x < y || std::isnan(y) ? x : y);
        case Op::MAX:
            if (x == y) return bits_of(x) & bits_of(y);
            return bits_of(x > y || std::isnan(y) ? x : y);
        case Op::COPYSIGN:  // a NaN as y counts as positive
            return bits_of(std::copysign(x, std::isnan(y) ? T{1} : y));
        default:
            return compare(op, x, y);
    }
}

template <std::integral T>
std::uint64_t binary(Op op, T x, T y) {
    __extension__ using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    using Limits = std::numeric_limits<T>;
    const auto a = static_cast<Bits<T>>(x);
    const auto b = static_cast<Bits<T>>(y);
    constexpr int kWidth = std::numeric_limits<Bits<T>>::digits;
    const auto count = static_cast<int>(b & (kWidth - 1));  // of a shift
    switch (op) {
        case Op::ADD:
            return static_cast<Bits<T>>(a + b);
        case Op::SUB:
            return static_cast<Bits<T>>(a - b);
        case Op::MUL:
            return static_cast<Bits<T>>(a * b);
        case Op::DIV:  // x / 0 is x; the least value / -1 wraps
            if (y == 0) return a;
            return std::is_signed_v<T> && y == static_cast<T>(-1) ? Bits<T>{0} - a
                                                                  : static_cast<Bits<T>>(x / y);
        case Op::REM:
            if (y == 0 || (std::is_signed_v<T> && y == static_cast<T>(-1))) return 0;
            return static_cast<Bits<T>>(x % y);
        case Op::AND:
        case Op::LOGICAL_AND:
            return a & b;
        case Op::OR:
        case Op::LOGICAL_OR:
            return a | b;
        case Op::XOR:
            return a ^ b;
        case Op::SHL:
            return static_cast<Bits<T>>(a << count);
        case Op::SHR:
            return static_cast<Bits<T>>(x >> count);
        case Op::ROTL:
            return std::rotl(a, count);
        case Op::ROTR:
            return std::rotr(a, count);
        case Op::MUL_HI:
            return static_cast<Bits<T>>(static_cast<Wide>(x) * static_cast<Wide>(y) >> kWidth);
        case Op::ADD_SAT: {
            T sum{};
            if (!__builtin_add_overflow(x, y, &sum)) return static_cast<Bits<T>>(sum);
            return static_cast<Bits<T>>(y < 0 ? Limits::min() : Limits::max());
        }
        case Op::SUB_SAT: {
            T difference{};
            if (!__builtin_sub_overflow(x, y, &difference)) return static_cast<Bits<T>>(difference);
            return static_cast<Bits<T>>(y > 0 ? Limits::min() : Limits::max());
        }
        case Op::MIN:
            return static_cast<Bits<T>>(std::min(x, y));
        case Op::MAX:
            return static_cast<Bits<T>>(std::max(x, y));
        default:
            return compare(op, x, y);
    }
}

// Converts a value. From integers: to the nearest float, or wrapped. From floats to integers:
// toward zero, saturated, and NaN becomes 0.
template <typename To, typename From>
To converted(From x) {
    using Limits = std::numeric_limits<To>;
    if constexpr (std::floating_point<From> && std::integral<To>) {
        if (std::isnan(x)) return 0;
        const From top = std::ldexp(From{1}, Limits::digits);
        if (x >= top) return Limits::max();
        if (x <= (std::is_signed_v<To> ? -top : From{0})) return Limits::min();
        return static_cast<To>(x);
    } else {
        return static_cast<To>(x);
    }
}

// ---- f16 and bf16: values are computed as f32, then rounded ------------------------------------

inline double half_value(std::uint64_t bits) {
    const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
    const auto exponent = static_cast<int>(bits >> 10U & 0x1fU);
    const auto fraction = static_cast<double>(bits & 0x3ffU);
    if (exponent == 31)
        return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
    return sign *
           (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}
// Returns the nearest f16, ties to even.
inline std::uint64_t half_bits(double value) {
    if (std::isnan(value)) return 0x7e00;
    const std::uint64_t sign = std::signbit(value) ? 0x8000 : 0;
    const double size = std::fabs(value);
    if (size >= 65520) return sign | 0x7c00U;  // halfway from the largest f16 to 65536
    if (size == 0) return sign;
    // `units` counts units of the last place. A carry of the rounding increments the exponent.
    const int exponent = std::max(std::ilogb(size), -14);
    const double units = std::nearbyint(std::ldexp(size, 10 - exponent));
    return sign + (static_cast<std::uint64_t>(exponent + 14) << 10U) +
           static_cast<std::uint64_t>(units);
}
inline std::uint64_t bfloat_bits(float value) {  // ties to even
    if (std::isnan(value)) return 0x7fc0;
    const std::uint64_t bits = bits_of(value);
    return (bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U;
}

// Whether an operation on numbers returns a bool.
inline bool gives_bool(Op op) {
    return (op >= Op::EQ && op <= Op::GE) || op == Op::ISNAN || op == Op::ISINF;
}
inline std::uint64_t widened(std::uint64_t half) {
    return bits_of(static_cast<float>(half_value(half)));
}
inline std::uint64_t rounded(Op op, std::uint64_t bits) {
    return gives_bool(op) ? bits : half_bits(value_of<float>(bits));
}

// ---- By kind ---------------------------------------------------------------------------------

inline std::uint64_t unary(Op op, Kind kind, std::uint64_t x) {
    if (kind == Kind::F16) return rounded(op, unary(op, Kind::F32, widened(x)));
    return with_type(kind, [&](auto type) { return unary(op, value_of<decltype(type)>(x)); });
}
inline std::uint64_t binary(Op op, Kind kind, std::uint64_t x, std::uint64_t y) {
    if (kind == Kind::F16) return rounded(op, binary(op, Kind::F32, widened(x), widened(y)));
    return with_type(kind, [&](auto type) {
        using T = decltype(type);
        return binary(op, value_of<T>(x), value_of<T>(y));
    });
}
inline std::uint64_t fused(Kind kind, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    if (kind == Kind::F64)
        return bits_of(std::fma(value_of<double>(x), value_of<double>(y), value_of<double>(z)));
    if (kind == Kind::F16)
        return rounded(Op::FMA, fused(Kind::F32, widened(x), widened(y), widened(z)));
    return bits_of(std::fma(value_of<float>(x), value_of<float>(y), value_of<float>(z)));
}
// Converts between any two kinds. A conversion from a kind to itself makes NaNs canonical.
inline std::uint64_t convert(Kind to, Kind from, std::uint64_t bits) {
    if (from == Kind::F16) return convert(to, Kind::F64, bits_of(half_value(bits)));
    if (to == Kind::F16) return half_bits(value_of<double>(convert(Kind::F64, from, bits)));
    return with_type(from, [&](auto source) {
        const auto value = value_of<decltype(source)>(bits);
        return with_type(to,
                         [&](auto target) { return bits_of(converted<decltype(target)>(value)); });
    });
}

}  // namespace driver
