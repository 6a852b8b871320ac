// SPDX-License-Identifier: Apache-2.0
//
// C++ types for the elements of a program's buffers: f16 and bf16, and the language's names of
// element types. Nothing here fails or throws.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string_view>
#include <type_traits>

namespace wye {

// An IEEE 754 binary16. Arithmetic goes through float.
struct f16 {
    std::uint16_t bits = 0;

    constexpr f16() = default;
    // Rounds to nearest, ties to even; values that round beyond 65504 become infinity; NaN becomes
    // 0x7e00.
    constexpr explicit f16(float value) : bits(rounded(std::bit_cast<std::uint32_t>(value))) {}
    // Makes a value from its bits.
    [[nodiscard]] static constexpr f16 from_bits(std::uint16_t bits) {
        f16 out;
        out.bits = bits;
        return out;
    }
    // Converts without rounding.
    [[nodiscard]] constexpr explicit operator float() const {
        const std::uint32_t sign = (bits & 0x8000U) << 16U;
        const std::uint32_t magnitude = bits & 0x7fffU;
        if (magnitude < 0x400U) {  // zero or subnormal: a multiple of 2^-24
            const float value = static_cast<float>(magnitude) * 0x1p-24F;
            return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
        }
        const std::uint32_t bias = magnitude >= 0x7c00U ? 0x70000000U : 0x38000000U;
        return std::bit_cast<float>(sign | ((magnitude << 13U) + bias));
    }
    // Compares as floats: NaN equals nothing, and -0 equals 0.
    [[nodiscard]] friend constexpr bool operator==(f16 a, f16 b) {
        return static_cast<float>(a) == static_cast<float>(b);
    }

  private:
    [[nodiscard]] static constexpr std::uint16_t rounded(std::uint32_t value) {
        constexpr std::uint32_t kInfinity = 0x7f800000U, kOverflow = 0x477ff000U;  // 65520
        constexpr std::uint32_t kLeastNormal = 0x38800000U;                        // 2^-14
        constexpr std::uint32_t kHalfOfLeast = 0x33000000U;                        // 2^-25
        const std::uint32_t sign = (value >> 16U) & 0x8000U;
        const std::uint32_t magnitude = value & 0x7fffffffU;
        std::uint32_t out = 0;
        if (magnitude > kInfinity) return 0x7e00U;
        if (magnitude >= kOverflow) {
            out = 0x7c00U;
        } else if (magnitude >= kLeastNormal) {
            out = to_even(magnitude - 0x38000000U, 13);
        } else if (magnitude > kHalfOfLeast) {
            const std::uint32_t exponent = magnitude >> 23U;  // 102 to 112
            out = to_even((magnitude & 0x7fffffU) | 0x800000U, 126U - exponent);
        }
        return static_cast<std::uint16_t>(sign | out);
    }
    // value / 2^shift, rounded to nearest, ties to even.
    [[nodiscard]] static constexpr std::uint32_t to_even(std::uint32_t value, std::uint32_t shift) {
        const std::uint32_t odd = (value >> shift) & 1U;
        return (value + (std::uint32_t{1} << (shift - 1U)) - 1U + odd) >> shift;
    }
};

// A bfloat16: the upper half of an f32. Arithmetic goes through float.
struct bf16 {
    std::uint16_t bits = 0;

    constexpr bf16() = default;
    // Rounds to nearest, ties to even; NaN becomes 0x7fc0.
    constexpr explicit bf16(float value) {
        const auto all = std::bit_cast<std::uint32_t>(value);
        const bool nan = (all & 0x7fffffffU) > 0x7f800000U;
        const std::uint32_t up = 0x7fffU + ((all >> 16U) & 1U);
        bits = nan ? std::uint16_t{0x7fc0U} : static_cast<std::uint16_t>((all + up) >> 16U);
    }
    // Makes a value from its bits.
    [[nodiscard]] static constexpr bf16 from_bits(std::uint16_t bits) {
        bf16 out;
        out.bits = bits;
        return out;
    }
    // Converts without rounding.
    [[nodiscard]] constexpr explicit operator float() const {
        return std::bit_cast<float>(std::uint32_t{bits} << 16U);
    }
    // Compares as floats: NaN equals nothing, and -0 equals 0.
    [[nodiscard]] friend constexpr bool operator==(bf16 a, bf16 b) {
        return static_cast<float>(a) == static_cast<float>(b);
    }
};

static_assert(sizeof(f16) == 2 && sizeof(bf16) == 2);

namespace detail {

// The language's name of a C++ type ("f32"); empty: it has none.
template <typename T>
[[nodiscard]] constexpr std::string_view scalar_name() {
    if constexpr (std::same_as<T, float>) return "f32";
    if constexpr (std::same_as<T, double>) return "f64";
    if constexpr (std::same_as<T, f16>) return "f16";
    if constexpr (std::same_as<T, bf16>) return "bf16";
    if constexpr (std::same_as<T, char>) return "u8";  // text
    if constexpr (std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>) {
        constexpr bool is_signed = std::is_signed_v<T>;
        if constexpr (sizeof(T) == 1) return is_signed ? "i8" : "u8";
        if constexpr (sizeof(T) == 2) return is_signed ? "i16" : "u16";
        if constexpr (sizeof(T) == 4) return is_signed ? "i32" : "u32";
        if constexpr (sizeof(T) == 8) return is_signed ? "i64" : "u64";
    }
    return {};
}

// The types of parameters, as programs declare them.
template <typename T>
concept ParamValue = std::same_as<T, std::int32_t> || std::same_as<T, std::uint32_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t> || std::same_as<T, float> ||
    std::same_as<T, double>;
// A parameter as the C API takes it: its bits, zero-extended.
template <ParamValue T>
[[nodiscard]] constexpr std::uint64_t param_bits(T value) {
    if constexpr (sizeof(T) == 4)
        return std::bit_cast<std::uint32_t>(value);
    else
        return std::bit_cast<std::uint64_t>(value);
}

// The remedy for a value of another type than the one that a parameter is declared with.
[[nodiscard]] constexpr const char* param_fix(std::string_view declared) {
    if (declared == "f32") return "Fix: give a float, as in `2.0F`";
    if (declared == "f64") return "Fix: give a double, as in `2.0`";
    if (declared == "i32") return "Fix: give a std::int32_t, as in `2`";
    if (declared == "u32") return "Fix: give a std::uint32_t, as in `2U`";
    if (declared == "i64") return "Fix: give a std::int64_t, as in `std::int64_t{2}`";
    return "Fix: give a std::uint64_t, as in `std::uint64_t{2}`";
}

// The type of a vector's components; a vector is a std::array.
template <typename T>
struct Lanes {
    using Scalar = T;
    static constexpr std::size_t kCount = 1;
};
template <typename T, std::size_t N>
struct Lanes<std::array<T, N>> {
    using Scalar = T;
    static constexpr std::size_t kCount = N;
};

}  // namespace detail

// A type whose values a buffer may hold: a scalar, a vector as std::array<scalar, 2 to 4>, or
// std::byte for bytes of any type.
template <typename T>
concept Element = std::same_as<T, std::byte> ||
    (!detail::scalar_name<typename detail::Lanes<T>::Scalar>().empty() &&
     detail::Lanes<T>::kCount >= 1 && detail::Lanes<T>::kCount <= 4);

// A contiguous range of elements, seen as bytes.
template <typename R>
concept Values = std::ranges::contiguous_range<R> && Element<std::ranges::range_value_t<R>>;

// Whether values of type T are elements of a buffer declared with this type ("f32", "u8x4"). A
// scalar also fits vectors of it, component after component; std::byte fits every type.
template <Element T>
[[nodiscard]] constexpr bool is_element(std::string_view declared) {
    if constexpr (std::same_as<T, std::byte>) return true;
    using Lanes = detail::Lanes<T>;
    constexpr std::string_view name = detail::scalar_name<typename Lanes::Scalar>();
    if (!declared.starts_with(name)) return false;
    const std::string_view lanes = declared.substr(name.size());  // "", "x2", "x3", "x4"
    if (lanes.empty()) return Lanes::kCount == 1;
    if (lanes.size() != 2 || lanes[0] != 'x') return false;
    return Lanes::kCount == 1 || static_cast<std::size_t>(lanes[1] - '0') == Lanes::kCount;
}

}  // namespace wye
