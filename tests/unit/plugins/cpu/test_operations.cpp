// SPDX-License-Identifier: Apache-2.0
//
// Every operation on every type at edge values, against the host's own arithmetic (128 bits wide
// for integers), with both operands in lanes, either one uniform, and on each kernel build.
#include <doctest/doctest.h>

#include <cctype>
#include <cmath>
#include <functional>

#include "edges.hpp"
#include "rig.hpp"

namespace {

using test::bits_of;
using test::name_of;
using test::stored;
__extension__ using Wide = __int128;
__extension__ using UWide = unsigned __int128;

template <typename T, typename R>
struct Operation {
    std::string text;  // with x and y
    std::function<R(T, T)> expected;
};

// Puts `by` where the one-letter name stands as a word.
std::string replaced(const std::string& text, char name, const std::string& by) {
    const auto word = [&](std::size_t n) {
        return n < text.size() && (std::isalnum(static_cast<unsigned char>(text[n])) != 0);
    };
    std::string out;
    for (std::size_t n = 0; n < text.size(); ++n) {
        const bool alone = text[n] == name && !word(n + 1) && (n == 0 || !word(n - 1));
        out += alone ? by : std::string(1, text[n]);
    }
    return out;
}

// Stores x OP y for lanes and lanes, lanes and a parameter, a parameter and lanes.
template <typename T, typename R>
void check(test::Rig& rig, const Operation<T, R>& operation) {
    std::vector<T> a;
    std::vector<T> b;
    test::pairs(a, b);
    const std::string t = name_of<T>();
    const std::string r = name_of<R>();
    test::Loaded program(
        rig, "wye 1; program op; workgroup 64; param P: " + t + "; input A: " + t +
                 "[]; input B: " + t + "[len(A)]; output R: " + r + "[len(A)]; output S: " + r +
                 "[len(A)]; output U: " + r + "[len(A)]; output V: " + r +
                 "[len(A)]; grid elements len(A); main {"
                 " let I = global_id.x; if I < len(A) { let X = A[I]; let Y = B[I];"
                 " R[I] = " +
                 replaced(replaced(operation.text, 'x', "X"), 'y', "Y") +
                 "; S[I] = " + replaced(replaced(operation.text, 'x', "X"), 'y', "P") +
                 "; U[I] = " + replaced(replaced(operation.text, 'x', "P"), 'y', "Y") +
                 "; V[I] = " + replaced(replaced(operation.text, 'x', "P"), 'y', "P") + "; } }");
    REQUIRE(program.failure().message == "");
    const test::Bytes empty(a.size() * sizeof(R));
    for (const T p : test::edges<T>()) {
        const auto result = program.run(
            {bits_of(p)}, {test::bytes_of(a), test::bytes_of(b), empty, empty, empty, empty});
        REQUIRE(result.failure.message == "");
        const auto lanes = test::values_of<R>(result.buffers[2]);
        const auto right = test::values_of<R>(result.buffers[3]);
        const auto left = test::values_of<R>(result.buffers[4]);
        const auto scalars = test::values_of<R>(result.buffers[5]);
        const auto wrong = [&](R got, T x, T y) {
            const R want = stored(operation.expected(x, y));
            if (bits_of(got) == bits_of(want)) return 0;
            MESSAGE(operation.text << " of " << t << " x " << x << " y " << y << ": " << got
                                   << " is not " << want);
            return 1;
        };
        int differences = 0;
        for (std::size_t n = 0; n < a.size() && differences == 0; ++n)
            differences = wrong(lanes[n], a[n], b[n]) + wrong(right[n], a[n], p) +
                          wrong(left[n], p, b[n]) + wrong(scalars[n], p, p);
        CHECK(differences == 0);
    }
}

template <typename T>
constexpr unsigned kBits = sizeof(T) * 8;

template <typename T>
T clamped(Wide value) {
    using L = std::numeric_limits<T>;
    return value < Wide{L::min()} ? L::min() : value > Wide{L::max()} ? L::max() : T(value);
}

template <typename T>
unsigned ones(T value) {
    unsigned count = 0;
    for (unsigned n = 0; n < kBits<T>; ++n) count += (bits_of(value) >> n) & 1U;
    return count;
}

template <typename T>
T divided(T x, T y) {
    return y == 0 ? x : T(Wide{x} / Wide{y});
}

template <typename T>
void integers(test::Rig& rig) {
    using U = std::make_unsigned_t<T>;
    const auto op = [&](const std::string& text, std::function<T(T, T)> expected) {
        check<T, T>(rig, {text, std::move(expected)});
    };
    const auto test_of = [&](const std::string& text, std::function<bool(T, T)> expected) {
        check<T, std::uint32_t>(
            rig, {"u32(" + text + ")", [=](T x, T y) { return expected(x, y) ? 1U : 0U; }});
    };
    op("x + y", [](T x, T y) { return T(U(x) + U(y)); });
    op("x - y", [](T x, T y) { return T(U(x) - U(y)); });
    op("x * y", [](T x, T y) { return T(UWide(U(x)) * U(y)); });
    op("x / y", divided<T>);
    op("x % y", [](T x, T y) { return y == 0 ? T(0) : T(Wide{x} - Wide{divided(x, y)} * y); });
    op("x & y", [](T x, T y) { return T(x & y); });
    op("x & ~y", [](T x, T y) { return T(x & ~y); });
    op("x | y", [](T x, T y) { return T(x | y); });
    op("x ^ y", [](T x, T y) { return T(x ^ y); });
    op("~x", [](T x, T) { return T(~x); });
    op("x << u32(y)", [](T x, T y) { return T(U(x) << (U(y) & (kBits<T> - 1))); });
    op("x >> u32(y)", [](T x, T y) { return T(x >> (U(y) & (kBits<T> - 1))); });
    op("popcount(x)", [](T x, T) { return T(ones(x)); });
    op("clz(x)", [](T x, T) {
        unsigned n = 0;
        while (n < kBits<T> && ((U(x) >> (kBits<T> - 1 - n)) & 1U) == 0) ++n;
        return T(n);
    });
    op("ctz(x)", [](T x, T) {
        unsigned n = 0;
        while (n < kBits<T> && ((U(x) >> n) & 1U) == 0) ++n;
        return T(n);
    });
    op("reverse_bits(x)", [](T x, T) {
        U out = 0;
        for (unsigned n = 0; n < kBits<T>; ++n) out |= ((U(x) >> n) & 1U) << (kBits<T> - 1 - n);
        return T(out);
    });
    op("mul_hi(x, y)", [](T x, T y) {
        if constexpr (std::is_signed_v<T>)
            return T((Wide{x} * Wide{y}) >> kBits<T>);
        else
            return T((UWide(x) * UWide(y)) >> kBits<T>);
    });
    op("add_sat(x, y)", [](T x, T y) { return clamped<T>(Wide{x} + Wide{y}); });
    op("sub_sat(x, y)", [](T x, T y) { return clamped<T>(Wide{x} - Wide{y}); });
    op("min(x, y)", [](T x, T y) { return x < y ? x : y; });
    op("max(x, y)", [](T x, T y) { return x < y ? y : x; });
    op("select(x < y, x, y)", [](T x, T y) { return x < y ? x : y; });
    if constexpr (std::is_signed_v<T>) {
        op("-x", [](T x, T) { return T(U(0) - U(x)); });
        op("abs(x)", [](T x, T) { return x < 0 ? T(U(0) - U(x)) : x; });
    } else {
        op("rotl(x, u32(y))", [](T x, T y) {
            const unsigned n = unsigned(y) & (kBits<T> - 1);
            return n == 0 ? x : T(x << n | x >> (kBits<T> - n));
        });
        op("rotr(x, u32(y))", [](T x, T y) {
            const unsigned n = unsigned(y) & (kBits<T> - 1);
            return n == 0 ? x : T(x >> n | x << (kBits<T> - n));
        });
    }
    test_of("x == y", [](T x, T y) { return x == y; });
    test_of("x != y", [](T x, T y) { return x != y; });
    test_of("x < y", [](T x, T y) { return x < y; });
    test_of("x <= y", [](T x, T y) { return x <= y; });
    test_of("x > y", [](T x, T y) { return x > y; });
    test_of("x >= y", [](T x, T y) { return x >= y; });
    test_of("x < y && !(x == y) || x > y", [](T x, T y) { return x != y; });
    // Chains of two operations are fused.
    op("(x ^ y) + x", [](T x, T y) { return T(U(x ^ y) + U(x)); });
    op("x - (x * y)", [](T x, T y) { return T(U(x) - U(UWide(U(x)) * U(y))); });
    op("(x << 5u) ^ y", [](T x, T y) { return T((U(x) << 5U) ^ U(y)); });
    op("(x - y) << 3u", [](T x, T y) { return T((U(x) - U(y)) << 3U); });
    op("(x & y) | y - x", [](T x, T y) { return T((x & y) | T(U(y) - U(x))); });
}

template <typename T>
T smaller(T x, T y) {
    if (std::isnan(x)) return y;
    if (std::isnan(y)) return x;
    if (x == y) return std::signbit(x) ? x : y;
    return x < y ? x : y;
}
template <typename T>
T larger(T x, T y) {
    return -smaller(-x, -y);
}

template <typename T, typename I>
I saturated(T x) {
    using L = std::numeric_limits<I>;
    if (std::isnan(x)) return 0;
    if (x <= T(L::min())) return L::min();
    if (x >= std::ldexp(T(1), int(kBits<I>) - (std::is_signed_v<I> ? 1 : 0))) return L::max();
    return I(x);
}

template <typename T>
void floats(test::Rig& rig) {
    const auto op = [&](const std::string& text, std::function<T(T, T)> expected) {
        check<T, T>(rig, {text, std::move(expected)});
    };
    const auto test_of = [&](const std::string& text, std::function<bool(T, T)> expected) {
        check<T, std::uint32_t>(
            rig, {"u32(" + text + ")", [=](T x, T y) { return expected(x, y) ? 1U : 0U; }});
    };
    op("x + y", [](T x, T y) { return x + y; });
    op("x - y", [](T x, T y) { return x - y; });
    op("x * y", [](T x, T y) { return x * y; });
    op("x / y", [](T x, T y) { return x / y; });
    op("-x", [](T x, T) { return -x; });
    op("abs(x)", [](T x, T) { return std::fabs(x); });
    op("sqrt(x)", [](T x, T) { return std::sqrt(x); });
    op("floor(x)", [](T x, T) { return std::floor(x); });
    op("ceil(x)", [](T x, T) { return std::ceil(x); });
    op("trunc(x)", [](T x, T) { return std::trunc(x); });
    op("round(x)", [](T x, T) { return std::nearbyint(x); });
    op("min(x, y)", smaller<T>);
    op("max(x, y)", larger<T>);
    op("clamp(x, y, x + y)", [](T x, T y) { return smaller(larger(x, y), x + y); });
    op("copysign(x, y)", [](T x, T y) { return std::copysign(x, std::isnan(y) ? T(1) : y); });
    op("fma(x, y, x)", [](T x, T y) { return std::fma(x, y, x); });
    op("fma(x, x, -y)", [](T x, T y) { return std::fma(x, x, -y); });
    // Two roundings, fused into one instruction of the plugin or not.
    op("x * y + x", [](T x, T y) {
        volatile T product = x * y;
        return product + x;
    });
    op("y - x * y", [](T x, T y) {
        volatile T product = x * y;
        return y - product;
    });
    op("(x - y) * y", [](T x, T y) { return (x - y) * y; });
    op("select(x < y, x, y)", [](T x, T y) { return x < y ? x : y; });
    test_of("x == y", [](T x, T y) { return x == y; });
    test_of("x != y", [](T x, T y) { return x != y; });
    test_of("x < y", [](T x, T y) { return x < y; });
    test_of("x <= y", [](T x, T y) { return x <= y; });
    test_of("x > y", [](T x, T y) { return x > y; });
    test_of("x >= y", [](T x, T y) { return x >= y; });
    test_of("isnan(x)", [](T x, T) { return std::isnan(x); });
    test_of("isinf(x)", [](T x, T) { return std::isinf(x); });
    check<T, std::int32_t>(rig, {"i32(x)", [](T x, T) { return saturated<T, std::int32_t>(x); }});
    check<T, std::uint32_t>(rig, {"u32(x)", [](T x, T) { return saturated<T, std::uint32_t>(x); }});
    check<T, std::int64_t>(rig, {"i64(x)", [](T x, T) { return saturated<T, std::int64_t>(x); }});
    check<T, std::uint64_t>(rig, {"u64(x)", [](T x, T) { return saturated<T, std::uint64_t>(x); }});
    check<T, float>(rig, {"f32(x)", [](T x, T) { return float(x); }});
    check<T, double>(rig, {"f64(x)", [](T x, T) { return double(x); }});
    if constexpr (sizeof(T) == 4) {
        check<T, std::uint32_t>(rig, {"bitcast<u32>(x + y)", [](T x, T y) {
                                          return std::uint32_t(bits_of(stored(x + y)));
                                      }});
    } else {
        check<T, std::uint64_t>(
            rig, {"bitcast<u64>(x + y)", [](T x, T y) { return bits_of(stored(x + y)); }});
    }
}

template <typename T, typename R>
void converts(test::Rig& rig) {
    check<T, R>(rig, {name_of<R>() + "(x)", [](T x, T) { return R(x); }});
}

template <typename T>
void conversions(test::Rig& rig) {
    converts<T, std::int32_t>(rig);
    converts<T, std::uint32_t>(rig);
    converts<T, std::int64_t>(rig);
    converts<T, std::uint64_t>(rig);
    converts<T, float>(rig);
    converts<T, double>(rig);
}

}  // namespace

TEST_CASE("integer operations give what 128-bit arithmetic gives") {
    for (const std::string& isa : test::isas()) {
        CAPTURE(isa);
        test::Rig rig(isa);
        integers<std::int32_t>(rig);
        integers<std::uint32_t>(rig);
        integers<std::int64_t>(rig);
        integers<std::uint64_t>(rig);
    }
}

TEST_CASE("float operations give what the host gives, to the bit") {
    for (const std::string& isa : test::isas()) {
        CAPTURE(isa);
        test::Rig rig(isa);
        floats<float>(rig);
        floats<double>(rig);
    }
}

TEST_CASE("integers convert with one rounding") {
    for (const std::string& isa : test::isas()) {
        CAPTURE(isa);
        test::Rig rig(isa);
        conversions<std::int32_t>(rig);
        conversions<std::uint32_t>(rig);
        conversions<std::int64_t>(rig);
        conversions<std::uint64_t>(rig);
    }
}

TEST_CASE("u64 and u32x2 are the same bits, low half first") {
    test::Rig rig;
    test::Loaded program(rig,
                         "wye 1; program halves; workgroup 64; input a: u64[]; output r: "
                         "u64[len(a)]; output s: u32[len(a)]; grid elements len(a); main { let i = "
                         "global_id.x; if i < len(a) { let h = bitcast<u32x2>(a[i]); r[i] = "
                         "bitcast<u64>(u32x2(h.y, h.x)); s[i] = h.x; } }");
    const std::vector<std::uint64_t> a = {0x0123456789abcdefU, 1, ~std::uint64_t{0}};
    const auto result = program.run({}, {test::bytes_of(a), test::Bytes(24), test::Bytes(12)});
    CHECK(test::values_of<std::uint64_t>(result.buffers[1]) ==
          std::vector<std::uint64_t>{0x89abcdef01234567U, 0x100000000U, ~std::uint64_t{0}});
    CHECK(test::values_of<std::uint32_t>(result.buffers[2]) ==
          std::vector<std::uint32_t>{0x89abcdefU, 1, 0xffffffffU});
}
