// SPDX-License-Identifier: Apache-2.0
//
// Each operation on one element, written so that compilers vectorise loops over it: no branches,
// and calls only where unavoidable. Kernel files include this header and are compiled once per
// instruction set. WYE_CPU_ISA names the namespace, so that the linker never mixes the copies; for
// the same reason, nothing here uses functions of the standard library.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/kernels/set.hpp"

#define WYE_CPU_OP [[gnu::always_inline]] static inline

namespace wye::cpu::WYE_CPU_ISA {

using i8 = std::int8_t;
using u8 = std::uint8_t;
using i16 = std::int16_t;
using u16 = std::uint16_t;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;
using f32 = float;
using f64 = double;

template <typename T>
struct BitsOf {
    using type = T;
};
template <>
struct BitsOf<i32> {
    using type = u32;
};
template <>
struct BitsOf<i64> {
    using type = u64;
};
template <>
struct BitsOf<f32> {
    using type = u32;
};
template <>
struct BitsOf<f64> {
    using type = u64;
};
template <typename T>
using Bits = typename BitsOf<T>::type;

template <typename T>
inline constexpr bool kFloat = false;
template <>
inline constexpr bool kFloat<f32> = true;
template <>
inline constexpr bool kFloat<f64> = true;
template <typename T>
inline constexpr bool kSigned = T(-1) < T(0);
template <typename T>
inline constexpr u32 kBits = sizeof(T) * 8;
template <typename T>
inline constexpr Bits<T> kTop = Bits<T>(1) << (kBits<T> - 1);  // sign bit
template <typename T>
inline constexpr T kMax = kSigned<T> ? T(~kTop<T>) : T(~Bits<T>(0));
template <typename T>
inline constexpr T kMin = kSigned<T> ? T(kTop<T>) : T(0);
template <typename T>
inline constexpr Bits<T> kInf = sizeof(T) == 4 ? Bits<T>(0x7f800000U)
                                               : Bits<T>(0x7ff0000000000000U);
template <typename T>
inline constexpr Bits<T> kNan = sizeof(T) == 4 ? Bits<T>(0x7fc00000U)
                                               : Bits<T>(0x7ff8000000000000U);

template <typename T>
WYE_CPU_OP Bits<T> bits(T x) {
    return __builtin_bit_cast(Bits<T>, x);
}
template <typename T>
WYE_CPU_OP T from_bits(Bits<T> x) {
    return __builtin_bit_cast(T, x);
}
template <typename T>
WYE_CPU_OP bool is_nan(T x) {
    return (bits(x) & ~kTop<T>) > kInf<T>;
}

// ---- Unary ----------------------------------------------------------------------------------

struct CopyOp {
    template <typename T>
    WYE_CPU_OP T run(T x) {
        return x;
    }
};
struct NegOp {
    template <typename T>
    WYE_CPU_OP T run(T x) {
        if constexpr (kFloat<T>) return from_bits<T>(bits(x) ^ kTop<T>);
        return T(Bits<T>(0) - Bits<T>(x));
    }
};
struct NotOp {
    template <typename T>
    WYE_CPU_OP T run(T x) {
        return T(~x);
    }
};
struct LogicalNotOp {
    WYE_CPU_OP u8 run(u8 x) { return u8(x ^ 1); }
};
struct PopcountOp {
    WYE_CPU_OP u32 run(u32 x) {
        x = x - ((x >> 1) & 0x55555555U);
        x = (x & 0x33333333U) + ((x >> 2) & 0x33333333U);
        x = (x + (x >> 4)) & 0x0f0f0f0fU;
        return (x * 0x01010101U) >> 24;
    }
    WYE_CPU_OP u64 run(u64 x) {
        x = x - ((x >> 1) & 0x5555555555555555U);
        x = (x & 0x3333333333333333U) + ((x >> 2) & 0x3333333333333333U);
        x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fU;
        x += x >> 8;
        x += x >> 16;
        x += x >> 32;
        return x & 0x7f;
    }
};
struct ClzOp {
    template <typename T>
    WYE_CPU_OP T run(T x) {
        for (u32 s = 1; s < kBits<T>; s *= 2) x |= x >> s;
        return PopcountOp::run(T(~x));
    }
};
struct CtzOp {
    template <typename T>
    WYE_CPU_OP T run(T x) {
        return PopcountOp::run(T(~x & (x - 1)));
    }
};
struct ReverseOp {
    WYE_CPU_OP u32 run(u32 x) {
        x = ((x >> 1) & 0x55555555U) | ((x & 0x55555555U) << 1);
        x = ((x >> 2) & 0x33333333U) | ((x & 0x33333333U) << 2);
        x = ((x >> 4) & 0x0f0f0f0fU) | ((x & 0x0f0f0f0fU) << 4);
        x = ((x >> 8) & 0x00ff00ffU) | ((x & 0x00ff00ffU) << 8);
        return (x >> 16) | (x << 16);
    }
    WYE_CPU_OP u64 run(u64 x) { return u64(run(u32(x))) << 32 | run(u32(x >> 32)); }
};
struct AbsOp {
    template <typename T>
    WYE_CPU_OP T run(T x) {
        if constexpr (kFloat<T>) return from_bits<T>(bits(x) & ~kTop<T>);
        return x < 0 ? NegOp::run(x) : x;
    }
};
struct SqrtOp {
    WYE_CPU_OP f32 run(f32 x) { return __builtin_sqrtf(x); }
    WYE_CPU_OP f64 run(f64 x) { return __builtin_sqrt(x); }
};
struct FloorOp {
    WYE_CPU_OP f32 run(f32 x) { return __builtin_floorf(x); }
    WYE_CPU_OP f64 run(f64 x) { return __builtin_floor(x); }
};
struct CeilOp {
    WYE_CPU_OP f32 run(f32 x) { return __builtin_ceilf(x); }
    WYE_CPU_OP f64 run(f64 x) { return __builtin_ceil(x); }
};
struct TruncOp {
    WYE_CPU_OP f32 run(f32 x) { return __builtin_truncf(x); }
    WYE_CPU_OP f64 run(f64 x) { return __builtin_trunc(x); }
};
struct RoundOp {  // ties to even, the rounding mode in which kernels always run
    WYE_CPU_OP f32 run(f32 x) { return __builtin_rintf(x); }
    WYE_CPU_OP f64 run(f64 x) { return __builtin_rint(x); }
};
struct IsNanOp {
    template <typename T>
    WYE_CPU_OP u8 run(T x) {
        return is_nan(x);
    }
};
struct IsInfOp {
    template <typename T>
    WYE_CPU_OP u8 run(T x) {
        return (bits(x) & ~kTop<T>) == kInf<T>;
    }
};
struct CanonicalOp {  // works on the bits: float arithmetic would quiet a signalling NaN
    template <typename T>
    WYE_CPU_OP T run(T x) {
        return (x & ~kTop<T>) > kInf<T> ? kNan<T> : x;
    }
};

// The result of another operation, with NaNs made canonical.
template <typename Op>
struct CanonicalOf {
    template <typename T, typename... More>
    WYE_CPU_OP T run(T x, More... more) {
        return from_bits<T>(CanonicalOp::run(bits(Op::run(x, more...))));
    }
};

// ---- Binary ---------------------------------------------------------------------------------

struct AddOp {
    template <typename T>
    WYE_CPU_OP T run(T a, T b) {
        return a + b;
    }
};
struct SubOp {
    template <typename T>
    WYE_CPU_OP T run(T a, T b) {
        return a - b;
    }
};
struct ReverseSubOp {
    template <typename T>
    WYE_CPU_OP T run(T a, T b) {
        return b - a;
    }
};
struct MulOp {
    template <typename T>
    WYE_CPU_OP T run(T a, T b) {
        return a * b;
    }
};
// 32-bit quotients are computed in f64, since vector units divide doubles. The result is exact: the
// quotient of two 32-bit integers is never so close to the next whole number that rounding to 53
// bits reaches it.
struct DivOp {
    WYE_CPU_OP u32 run(u32 a, u32 b) {
        const u32 safe = b < 2 ? 2 : b;
        const u32 q = u32(i32(f64(a) / f64(safe)));
        return b < 2 ? a : q;
    }
    WYE_CPU_OP i32 run(i32 a, i32 b) {
        const i32 safe = b == 0 || b == -1 ? 1 : b;
        const i32 q = i32(f64(a) / f64(safe));
        return b == -1 ? NegOp::run(a) : q;
    }
    WYE_CPU_OP u64 run(u64 a, u64 b) { return a / (b == 0 ? 1 : b); }
    WYE_CPU_OP i64 run(i64 a, i64 b) {
        const i64 q = a / (b == 0 || b == -1 ? 1 : b);
        return b == -1 ? NegOp::run(a) : q;
    }
    WYE_CPU_OP f32 run(f32 a, f32 b) { return a / b; }
    WYE_CPU_OP f64 run(f64 a, f64 b) { return a / b; }
};
struct RemOp {
    template <typename T>
    WYE_CPU_OP T run(T a, T b) {
        const T r = T(Bits<T>(a) - Bits<T>(DivOp::run(a, b)) * Bits<T>(b));
        return b == 0 ? T(0) : r;
    }
};
struct AndOp {
    template <typename T>
    WYE_CPU_OP T run(T a, T b) {
        return T(a & b);
    }
};
struct OrOp {
    template <typename T>
    WYE_CPU_OP T run(T a, T b) {
        return T(a | b);
    }
};
struct XorOp {
    template <typename T>
    WYE_CPU_OP T run(T a, T b) {
        return T(a ^ b);
    }
};
struct AndNotOp {
    template <typename T>
    WYE_CPU_OP T run(T a, T b) {
        return T(a & ~b);
    }
};
struct ShlOp {
    template <typename T>
    WYE_CPU_OP T run(T a, u32 n) {
        return T(Bits<T>(a) << (n & (kBits<T> - 1)));
    }
};
struct ShrOp {
    template <typename T>
    WYE_CPU_OP T run(T a, u32 n) {
        return T(a >> (n & (kBits<T> - 1)));
    }
};
struct RotlOp {
    template <typename T>
    WYE_CPU_OP T run(T a, u32 n) {
        return (a << (n & (kBits<T> - 1))) | (a >> ((0U - n) & (kBits<T> - 1)));
    }
};
struct RotrOp {
    template <typename T>
    WYE_CPU_OP T run(T a, u32 n) {
        return (a >> (n & (kBits<T> - 1))) | (a << ((0U - n) & (kBits<T> - 1)));
    }
};
struct MulHiOp {
    WYE_CPU_OP u32 run(u32 a, u32 b) { return u32((u64(a) * b) >> 32); }
    WYE_CPU_OP i32 run(i32 a, i32 b) { return i32((i64(a) * b) >> 32); }
    // Computed in 32-bit parts, since vector units have no product of 64 by 64 bits.
    WYE_CPU_OP u64 run(u64 a, u64 b) {
        const u64 al = u32(a), ah = a >> 32, bl = u32(b), bh = b >> 32;
        const u64 low = al * bl, m1 = ah * bl, m2 = al * bh;
        const u64 middle = (low >> 32) + u32(m1) + u32(m2);
        return ah * bh + (m1 >> 32) + (m2 >> 32) + (middle >> 32);
    }
    WYE_CPU_OP i64 run(i64 a, i64 b) {
        const u64 high = run(u64(a), u64(b));
        return i64(high - (a < 0 ? u64(b) : 0) - (b < 0 ? u64(a) : 0));
    }
};
struct AddSatOp {
    template <typename T>
    WYE_CPU_OP T run(T a, T b) {
        const T sum = T(Bits<T>(a) + Bits<T>(b));
        if constexpr (!kSigned<T>) return sum < a ? kMax<T> : sum;
        const T clamped = a < 0 ? kMin<T> : kMax<T>;
        return T((a ^ sum) & (b ^ sum)) < 0 ? clamped : sum;
    }
};
struct SubSatOp {
    template <typename T>
    WYE_CPU_OP T run(T a, T b) {
        const T difference = T(Bits<T>(a) - Bits<T>(b));
        if constexpr (!kSigned<T>) return a < b ? T(0) : difference;
        const T clamped = a < 0 ? kMin<T> : kMax<T>;
        return T((a ^ b) & (a ^ difference)) < 0 ? clamped : difference;
    }
};
// For floats, a number wins over a NaN, and -0 is below +0.
struct MinOp {
    template <typename T>
    WYE_CPU_OP T run(T a, T b) {
        if constexpr (kFloat<T>) {
            const T equal = from_bits<T>(bits(a) | bits(b));
            const T smaller = ((a < b) | is_nan(b)) ? a : b;
            return a == b ? equal : smaller;
        }
        return a < b ? a : b;
    }
};
struct MaxOp {
    template <typename T>
    WYE_CPU_OP T run(T a, T b) {
        if constexpr (kFloat<T>) {
            const T equal = from_bits<T>(bits(a) & bits(b));
            const T larger = ((a > b) | is_nan(b)) ? a : b;
            return a == b ? equal : larger;
        }
        return a > b ? a : b;
    }
};
struct EqOp {
    template <typename T>
    WYE_CPU_OP u8 run(T a, T b) {
        return a == b;
    }
};
struct NeOp {
    template <typename T>
    WYE_CPU_OP u8 run(T a, T b) {
        return a != b;
    }
};
struct LtOp {
    template <typename T>
    WYE_CPU_OP u8 run(T a, T b) {
        return a < b;
    }
};
struct LeOp {
    template <typename T>
    WYE_CPU_OP u8 run(T a, T b) {
        return a <= b;
    }
};
struct CopysignOp {
    template <typename T>
    WYE_CPU_OP T run(T a, T b) {
        const Bits<T> sign = is_nan(b) ? Bits<T>(0) : bits(b) & kTop<T>;
        return from_bits<T>((bits(a) & ~kTop<T>) | sign);
    }
};

// ---- f16 and bf16 ------------------------------------------------------------------------------
//
// An f16 value is held as the f32 of the same value. Below 2^-14 all f16 values are multiples of
// 2^-24. Adding and then subtracting a power of two whose last mantissa bit stands for 2^-24 rounds
// to such a multiple.

struct HalfOp {  // rounds to the nearest f16, ties to even
    WYE_CPU_OP f32 run(f32 x) {
        const u32 sign = bits(x) & kTop<f32>;
        const u32 a = bits(x) ^ sign;
        const f32 small = (from_bits<f32>(a) + 0.5F) - 0.5F;
        const u32 rounded = (a + 0xfffU + ((a >> 13) & 1U)) & ~0x1fffU;
        const u32 large = a >= 0x477ff000U ? kInf<f32> : rounded;  // from 65520 on
        const u32 number = a < 0x38800000U ? bits(small) : large;  // below 2^-14
        return from_bits<f32>((a > kInf<f32> ? a : number) | sign);
    }
    WYE_CPU_OP f32 run(f64 x) {  // rounds once
        const u64 sign = bits(x) & kTop<f64>;
        const u64 a = bits(x) ^ sign;
        const f64 small = (from_bits<f64>(a) + 0x1p28) - 0x1p28;
        const u64 rounded = (a + 0x1ffffffffffU + ((a >> 42) & 1U)) & ~u64(0x3ffffffffffU);
        const u64 large = a >= 0x40effe0000000000U ? kInf<f64> : rounded;
        const u64 number = a < 0x3f10000000000000U ? bits(small) : large;
        return f32(from_bits<f64>((a > kInf<f64> ? a : number) | sign));
    }
};
struct HalfBitsOp {  // from a register to the 16 bits in memory; a NaN becomes canonical
    WYE_CPU_OP u32 run(u32 x) {
        const u32 sign = (x >> 16) & 0x8000U;
        const u32 a = x & 0x7fffffffU;
        const u32 small = bits(from_bits<f32>(a) + 0.5F) - 0x3f000000U;
        const u32 number = a < 0x38800000U ? small : (a - 0x38000000U) >> 13;
        const u32 finite = (a == kInf<f32> ? 0x7c00U : number) | sign;
        return a > kInf<f32> ? 0x7e00U : finite;
    }
};
struct BitsHalfOp {
    WYE_CPU_OP u32 run(u32 x) {
        const u32 sign = (x & 0x8000U) << 16;
        const u32 m = x & 0x7fffU;
        const u32 small = bits(f32(i32(m)) * 0x1p-24F);
        const u32 number = (m << 13) + 0x38000000U;
        const u32 large = m >= 0x7c00U ? number + 0x38000000U : number;
        return (m < 0x400U ? small : large) | sign;
    }
};
struct Bf16BitsOp {  // rounds to the nearest bf16, ties to even
    WYE_CPU_OP u32 run(u32 x) {
        const u32 rounded = (x + 0x7fffU + ((x >> 16) & 1U)) >> 16;
        return (x & 0x7fffffffU) > kInf<f32> ? 0x7fc0U : rounded;
    }
};

// ---- Three operands, conversions --------------------------------------------------------------

struct FmaOp {
    WYE_CPU_OP f32 run(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
    WYE_CPU_OP f64 run(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
};

// An operation on f16: computed in f32, then rounded.
template <typename Op>
struct HalfOf {
    template <typename... T>
    WYE_CPU_OP f32 run(T... x) {
        return HalfOp::run(Op::run(x...));
    }
};
struct MulAddOp {  // the product of two f16 is exact in f32
    WYE_CPU_OP f32 run(f32 a, f32 b, f32 c) { return a * b + c; }
};

template <typename To>
struct ConvertOp {
    template <typename From>
    WYE_CPU_OP To run(From x) {
        if constexpr (kFloat<From> && !kFloat<To>) {
            // `end` is the end of the target's range, 2^(value bits), which f32 and f64 hold
            // exactly. The conversion of a value inside the range is defined.
            constexpr From end = From(kTop<To>) * (kSigned<To> ? From(1) : From(2));
            constexpr From first = kSigned<To> ? -end : From(0);
            const To inside = To(((x >= first) & (x < end)) ? x : From(0));
            const To above = x >= end ? kMax<To> : inside;
            return x < first ? kMin<To> : above;
        } else {
            return To(x);
        }
    }
};

}  // namespace wye::cpu::WYE_CPU_ISA
