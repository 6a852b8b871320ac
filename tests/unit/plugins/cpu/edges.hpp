// SPDX-License-Identifier: Apache-2.0
//
// Edge values of each type, and the types' names in the language.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace test {

template <typename T>
std::string name_of() {
    if constexpr (std::is_same_v<T, std::int32_t>) return "i32";
    if constexpr (std::is_same_v<T, std::uint32_t>) return "u32";
    if constexpr (std::is_same_v<T, std::int64_t>) return "i64";
    if constexpr (std::is_same_v<T, std::uint64_t>) return "u64";
    if constexpr (std::is_same_v<T, float>) return "f32";
    if constexpr (std::is_same_v<T, double>) return "f64";
}

template <typename T>
std::vector<T> edges() {
    using L = std::numeric_limits<T>;
    if constexpr (std::is_integral_v<T>) {
        return {T(0),
                T(1),
                T(2),
                T(3),
                T(7),
                T(-1),
                T(-2),
                T(-7),
                L::max(),
                T(L::max() - 1),
                L::min(),
                T(L::min() + 1),
                T(L::max() / 2 + 1),
                T(0x55555555),
                T(0x80000000U),
                T(0xffffU),
                T(31),
                T(33),
                T(1000003)};
    } else {
        const T tiny = L::denorm_min();
        return {T(0),
                T(-0.0),
                T(1),
                T(-1),
                T(0.5),
                T(-0.5),
                T(1.5),
                T(2.5),
                T(-2.5),
                T(3),
                L::infinity(),
                -L::infinity(),
                L::quiet_NaN(),
                -L::quiet_NaN(),
                L::max(),
                -L::max(),
                L::min(),
                -L::min(),
                tiny,
                -tiny,
                L::min() / 2,
                T(1) / 3,
                T(0.1),
                T(2147483648.0),
                T(-2147483648.0),
                T(2147483520.0),
                T(4294967296.0),
                T(9223372036854775808.0),
                T(-9223372036854775808.0),
                T(18446744073709551616.0),
                std::nextafter(T(1), T(2)),
                T(8388607.5),
                T(-8388608.5),
                T(1e30),
                T(0.49999997)};
    }
}

// The value as a store writes it, with the canonical NaN.
template <typename T>
T stored(T value) {
    if constexpr (std::is_floating_point_v<T>)
        if (std::isnan(value)) return std::numeric_limits<T>::quiet_NaN();
    return value;
}

template <typename T>
std::uint64_t bits_of(T value) {
    std::uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}

}  // namespace test
