// SPDX-License-Identifier: Apache-2.0
//
// The builder's types: f32, u32x4, boolx2, ... as values, and the type of a C++ literal.
// Part of wye/builder.hpp; include that.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "wye/program_format.h"

namespace wye::builder {

// A type of the language.
struct Type {
    std::uint16_t code = 0;  // WYE_TYPE(kind, lanes)
    // Whether both are the same type.
    friend constexpr bool operator==(Type, Type) = default;
};

// The scalars bool_ i32 u32 i64 u64 f16 f32 f64, the storage types (buffer elements only) i8 u8 i16
// u16 bf16, and each 2, 3 and 4 wide: f32x4, boolx2, u8x3.
#define WYE_BUILDER_TYPES(X) \
    X(i32, I32)              \
    X(u32, U32)              \
    X(i64, I64)              \
    X(u64, U64)              \
    X(f16, F16)              \
    X(f32, F32)              \
    X(f64, F64)              \
    X(i8, I8)                \
    X(u8, U8)                \
    X(i16, I16)              \
    X(u16, U16)              \
    X(bf16, BF16)
#define WYE_BUILDER_TYPE(name, kind)                              \
    inline constexpr Type name{WYE_TYPE(WYE_KIND_##kind, 1)};     \
    inline constexpr Type name##x2{WYE_TYPE(WYE_KIND_##kind, 2)}; \
    inline constexpr Type name##x3{WYE_TYPE(WYE_KIND_##kind, 3)}; \
    inline constexpr Type name##x4{WYE_TYPE(WYE_KIND_##kind, 4)};
WYE_BUILDER_TYPES(WYE_BUILDER_TYPE)
#undef WYE_BUILDER_TYPE
#undef WYE_BUILDER_TYPES
inline constexpr Type bool_{WYE_TYPE(WYE_KIND_BOOL, 1)};
inline constexpr Type boolx2{WYE_TYPE(WYE_KIND_BOOL, 2)};
inline constexpr Type boolx3{WYE_TYPE(WYE_KIND_BOOL, 3)};
inline constexpr Type boolx4{WYE_TYPE(WYE_KIND_BOOL, 4)};

// C++ types with a counterpart in the language: bool, float, double, and integers of 4 or 8 bytes.
template <typename T>
concept Scalar = std::is_same_v<T, bool> || std::is_same_v<T, float> || std::is_same_v<T, double> ||
    (std::is_integral_v<T> && !std::is_same_v<T, char32_t> && !std::is_same_v<T, wchar_t> &&
     (sizeof(T) == 4 || sizeof(T) == 8));

// The language's type for T.
template <Scalar T>
[[nodiscard]] constexpr Type type_of() {
    if constexpr (std::is_same_v<T, bool>) return bool_;
    if constexpr (std::is_same_v<T, float>) return f32;
    if constexpr (std::is_same_v<T, double>) return f64;
    if constexpr (sizeof(T) == 4) return std::is_signed_v<T> ? i32 : u32;
    return std::is_signed_v<T> ? i64 : u64;
}

// The bits of a literal, zero-extended; any NaN becomes the canonical one.
template <Scalar T>
[[nodiscard]] constexpr std::uint64_t bits_of(T value) {
    if constexpr (std::is_same_v<T, float>)
        return value != value ? 0x7fc00000U : std::bit_cast<std::uint32_t>(value);
    else if constexpr (std::is_same_v<T, double>)
        return value != value ? 0x7ff8000000000000U : std::bit_cast<std::uint64_t>(value);
    else if constexpr (sizeof(T) == 8)
        return static_cast<std::uint64_t>(value);
    else
        return static_cast<std::uint32_t>(value);
}

}  // namespace wye::builder
