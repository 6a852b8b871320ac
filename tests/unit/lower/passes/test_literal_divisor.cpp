// SPDX-License-Identifier: Apache-2.0
//
// Tests division by multiplication against the host's own division.
#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "lower/passes/literal_divisor.hpp"

namespace test_literal_divisor {

using wye::lower::Reciprocal;
using wye::lower::reciprocal_of;

namespace {

__extension__ using Wide = __int128;
__extension__ using UWide = unsigned __int128;

// Computes a quotient with a reciprocal, as lowered text does, in N bits.
template <typename T>
T by_product(T n, const Reciprocal& r) {
    const unsigned bits = sizeof(T) * 8;
    if constexpr (T(-1) < T(0)) {
        const Wide high = static_cast<Wide>(n) * r.factor >> bits;
        return static_cast<T>(static_cast<T>(high >> r.shift) + (n < 0));
    } else {
        const auto high = static_cast<T>(static_cast<UWide>(n) * r.factor >> bits);
        if (!r.carries) return static_cast<T>(high >> r.shift);
        const T half = static_cast<T>(n - high) >> 1;
        return static_cast<T>(high + half) >> (r.shift - 1);
    }
}

// Returns the number of wrong quotients. Divisors and dividends: small numbers, random numbers,
// numbers around powers of two, and dividends just below multiples.
template <typename T>
std::uint64_t count_wrong() {
    const unsigned bits = sizeof(T) * 8;
    std::mt19937_64 random(7);
    std::vector<T> divisors, values;
    for (std::uint64_t d = 0; d < 300; ++d) divisors.push_back(static_cast<T>(d));
    for (unsigned k = 0; k < bits; ++k)
        for (int off = -2; off <= 2; ++off)
            divisors.push_back(static_cast<T>((std::uint64_t{1} << k) + std::uint64_t(off)));
    for (int i = 0; i < 2000; ++i) divisors.push_back(static_cast<T>(random() >> random() % bits));
    values = divisors;
    for (const T v : divisors) values.push_back(static_cast<T>(0 - static_cast<std::uint64_t>(v)));
    std::uint64_t wrong = 0;
    for (const T d : divisors) {
        if (d < 3 || std::has_single_bit(static_cast<std::uint64_t>(d))) continue;
        const auto r = reciprocal_of(static_cast<std::uint64_t>(d), bits, T(-1) < T(0));
        for (const T v : values) wrong += by_product(v, r) != static_cast<T>(v / d);
        for (int i = 0; i < 20; ++i) {
            const T near = static_cast<T>(static_cast<std::uint64_t>(d) * random() - 1);
            wrong += by_product(near, r) != static_cast<T>(near / d);
        }
    }
    return wrong;
}

}  // namespace

TEST_CASE("a product with the reciprocal is the quotient") {
    CHECK(count_wrong<std::uint32_t>() == 0);
    CHECK(count_wrong<std::int32_t>() == 0);
    CHECK(count_wrong<std::uint64_t>() == 0);
    CHECK(count_wrong<std::int64_t>() == 0);
}

TEST_CASE("small factors are found") {
    const Reciprocal three = reciprocal_of(3, 32, false);
    CHECK(three.factor == 0xaaaaaaab);
    CHECK(three.shift == 1);
    CHECK_FALSE(three.carries);
    CHECK(reciprocal_of(7, 32, false).carries);
    CHECK_FALSE(reciprocal_of(7, 32, true).carries);
}

}  // namespace test_literal_divisor
