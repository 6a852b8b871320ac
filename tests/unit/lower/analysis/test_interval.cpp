// SPDX-License-Identifier: Apache-2.0
//
// Tests interval arithmetic against arithmetic on values in the intervals: no result may lie
// outside of the interval that was computed.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "lower/analysis/interval.hpp"
#include "lower/analysis/range_facts.hpp"

namespace test_interval {

using wye::ir::Kind;
using wye::ir::Op;
using wye::lower::Interval;

namespace {

template <typename T>
T pick(std::mt19937_64& random) {
    static const std::int64_t kEnds[] = {0, 1, 2, 7, 31, 32, 63, 64, 255, 256, -1, -2, -7};
    switch (random() % 4) {
        case 0:
            return static_cast<T>(kEnds[random() % std::size(kEnds)]);
        case 1:
            return static_cast<T>(std::numeric_limits<T>::max() - static_cast<T>(random() % 3));
        case 2:
            return static_cast<T>(std::numeric_limits<T>::min() + static_cast<T>(random() % 3));
        default:
            return static_cast<T>(random() >> (random() % 64));
    }
}

// Returns the result that the language defines.
template <typename T>
T language(Op op, T a, T b) {
    using U = std::make_unsigned_t<T>;
    const unsigned w = sizeof(T) * 8;
    const U x = static_cast<U>(a), y = static_cast<U>(b);
    const unsigned count = static_cast<unsigned>(y) & (w - 1);
    const bool bad = b == 0 || (std::is_signed_v<T> && a == std::numeric_limits<T>::min() &&
                                b == static_cast<T>(-1));
    switch (op) {
        case Op::ADD:
            return static_cast<T>(x + y);
        case Op::SUB:
            return static_cast<T>(x - y);
        case Op::MUL:
            return static_cast<T>(static_cast<U>(x * y));
        case Op::DIV:
            return bad ? a : static_cast<T>(a / b);
        case Op::REM:
            return bad ? T{0} : static_cast<T>(a % b);
        case Op::AND:
            return static_cast<T>(x & y);
        case Op::OR:
            return static_cast<T>(x | y);
        case Op::XOR:
            return static_cast<T>(x ^ y);
        case Op::SHL:
            return static_cast<T>(static_cast<U>(x << count));
        case Op::SHR:
            return static_cast<T>(a >> count);
        case Op::MIN:
            return std::min(a, b);
        default:
            return std::max(a, b);
    }
}

// Converts a value to an end of an interval. Values above the greatest i64 become kMost.
template <typename T>
std::int64_t end_of(T value) {
    if constexpr (std::is_same_v<T, std::uint64_t>)
        return static_cast<std::int64_t>(std::min<std::uint64_t>(value, Interval::kMost));
    else
        return static_cast<std::int64_t>(value);
}

template <typename T>
void check_kind(Kind kind, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const Op ops[] = {Op::ADD, Op::SUB, Op::MUL, Op::DIV, Op::REM, Op::AND,
                      Op::OR,  Op::XOR, Op::SHL, Op::SHR, Op::MIN, Op::MAX};
    unsigned outside = 0;
    unsigned narrow = 0;
    for (int round = 0; round < 60000; ++round) {
        const Op op = ops[round % std::size(ops)];
        const T a1 = pick<T>(random), b1 = pick<T>(random);
        const T a2 = random() % 3 == 0 ? a1 : pick<T>(random);
        const T b2 = random() % 3 == 0 ? b1 : pick<T>(random);
        const Interval a{end_of(std::min(a1, a2)), end_of(std::max(a1, a2))};
        const Interval b{end_of(std::min(b1, b2)), end_of(std::max(b1, b2))};
        const Interval r = wye::lower::binary(op, kind, a, b);
        if (r != wye::lower::whole(kind)) ++narrow;
        // The ends, and a value between them.
        for (const T x : {a1, a2, static_cast<T>(a1 / 2 + a2 / 2)})
            for (const T y : {b1, b2, static_cast<T>(b1 / 2 + b2 / 2)}) {
                if (x < std::min(a1, a2) || x > std::max(a1, a2)) continue;
                if (y < std::min(b1, b2) || y > std::max(b1, b2)) continue;
                const std::int64_t value = end_of(language<T>(op, x, y));
                if (value < r.low || value > r.high) ++outside;
            }
    }
    CHECK(outside == 0);
    CHECK(narrow > 5000);  // many intervals are narrower than the type
}

}  // namespace

TEST_CASE("no value lies outside its interval") {
    check_kind<std::int32_t>(Kind::I32, 1);
    check_kind<std::uint32_t>(Kind::U32, 2);
    check_kind<std::int64_t>(Kind::I64, 3);
    check_kind<std::uint64_t>(Kind::U64, 4);
}

TEST_CASE("a difference is at most its minuend only if the subtrahend has a bound below it") {
    using wye::lower::RangeFacts;
    constexpr Interval kLarge{Interval::kMost, Interval::kMost};  // 2^63 - 1 or more
    for (const bool bounded : {true, false}) {
        RangeFacts facts;
        const auto a = facts.opaque(Kind::U64, kLarge);
        const auto b = facts.opaque(Kind::U64, {0, bounded ? 7 : Interval::kMost});
        const auto difference = facts.number(
            {Op::SUB, Kind::U64, 0, {a, b, wye::lower::kNoValue}, wye::lower::whole(Kind::U64)});
        // Without a bound, 2^63 - 2^64 wraps around to more than 2^63.
        CHECK(facts.certainly_less(difference, a, false) == bounded);
    }
}

TEST_CASE("joins and meets") {
    using wye::lower::join;
    using wye::lower::meet;
    CHECK(join({1, 3}, {7, 9}) == Interval{1, 9});
    CHECK(meet({1, 8}, {3, 9}) == Interval{3, 8});
    CHECK(meet({1, 2}, {5, 9}) == Interval{1, 2});  // an empty intersection changes nothing
}

}  // namespace test_interval
