// SPDX-License-Identifier: Apache-2.0
//
// Affine indices: conditions that are decided for a whole block, and loads and stores that use
// memory directly instead of a register. The results are compared with the host's arithmetic, also
// across blocks.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "rig.hpp"

namespace {

using U32s = std::vector<std::uint32_t>;

constexpr std::uint32_t kNan = 0x7fc00000U;

// Compares two integers by the operator in the program's text.
bool holds(const std::string& compare, std::int64_t a, std::int64_t b) {
    if (compare == "<") return a < b;
    if (compare == "<=") return a <= b;
    if (compare == ">") return a > b;
    if (compare == ">=") return a >= b;
    if (compare == "==") return a == b;
    return a != b;
}

constexpr const char* kCompares[] = {"<", "<=", ">", ">=", "==", "!="};

}  // namespace

TEST_CASE("comparing an affine index with something uniform is exact at every edge") {
    // The number of indices, from `first` on: enough for a whole block of the largest size and a
    // part of another block.
    constexpr std::uint32_t kCount = 2200;
    const std::int64_t edges[] = {0,    1,          64,         65,         511,
                                  512,  2047,       2048,       2049,       2199,
                                  2200, 2147483647, 2147483648, 4294967294, 4294967295};
    for (const std::string& isa : test::isas()) {
        test::Rig rig(isa);
        for (const bool is_signed : {false, true}) {
            const std::string type = is_signed ? "i32" : "u32";
            for (const char* compare : kCompares) {
                test::Loaded program(
                    rig,
                    "wye 1; program compare; workgroup 55; param first: " + type +
                        "; param limit: " + type +
                        "; output r: u32[2200]; output s: u32[2200]; main { let g = global_id.x; "
                        "let i = " +
                        type +
                        "(g) + first; "
                        "if i " +
                        compare +
                        " limit { r[g] = 1u; } else { r[g] = 2u; } "
                        "if limit " +
                        compare + " i { s[g] = 3u; } }");
                for (const std::int64_t first : edges) {
                    for (const std::int64_t limit : edges) {
                        const auto result = program.run(
                            {std::uint32_t(first), std::uint32_t(limit)},
                            {test::Bytes(8800), test::Bytes(8800)}, {{kCount / 55, 1, 1}});
                        REQUIRE(result.failure.message == "");
                        U32s r(kCount);
                        U32s s(kCount);
                        for (std::uint32_t n = 0; n < kCount; ++n) {
                            const auto bits = std::uint32_t(first) + n;
                            const std::int64_t i =
                                is_signed ? std::int64_t{std::int32_t(bits)} : bits;
                            const std::int64_t l =
                                is_signed ? std::int64_t{std::int32_t(limit)} : limit;
                            r[n] = holds(compare, i, l) ? 1 : 2;
                            s[n] = holds(compare, l, i) ? 3 : 0;
                        }
                        CAPTURE(isa);
                        CAPTURE(type);
                        CAPTURE(compare);
                        CAPTURE(first);
                        CAPTURE(limit);
                        const bool same = test::values_of<std::uint32_t>(result.buffers[0]) == r &&
                                          test::values_of<std::uint32_t>(result.buffers[1]) == s;
                        CHECK(same);
                    }
                }
            }
        }
    }
}

TEST_CASE("conjunctions of affine conditions, in rows, narrow grids and workgroups") {
    const char* const barriers[] = {"", "barrier; "};
    for (const char* barrier : barriers) {
        test::Rig rig;
        test::Loaded program(
            rig,
            std::string("wye 1; program both; workgroup 64; param low: u32; param high: u32; "
                        "param on: u32; output r: u32[]; output s: u32[len(r)]; main { ") +
                barrier +
                "let i = global_id.x; "
                "if i >= low && i < high && on != 0u && i != 70u && !(i == 75u) { r[i] = 1u; } "
                "let inside = i >= low && i < high; var v = 0u; "
                "for k in 0u..3u { if inside && k != 1u { v += i + k; } if local_index == k "
                "{ v += 1000u; } } s[i] = select(inside, v, v + 5u); }");
        for (const std::uint32_t low : {0U, 3U, 64U, 2049U, 3000U}) {
            for (const std::uint32_t high : {0U, 64U, 77U, 2048U, 2600U, 0xffffffffU}) {
                for (const std::uint32_t on : {0U, 1U}) {
                    const std::uint32_t count = 2624;
                    const auto result = program.run(
                        {low, high, on}, {test::Bytes(count * 4), test::Bytes(count * 4)},
                        {{count / 64, 1, 1}});
                    REQUIRE(result.failure.message == "");
                    U32s r(count);
                    U32s s(count);
                    for (std::uint32_t i = 0; i < count; ++i) {
                        const bool inside = i >= low && i < high;
                        r[i] = inside && on != 0 && i != 70 && i != 75 ? 1 : 0;
                        s[i] = (inside ? 2 * i + 2 : 5) + (i % 64 < 3 ? 1000 : 0);
                    }
                    CAPTURE(barrier);
                    CAPTURE(low);
                    CAPTURE(high);
                    CAPTURE(on);
                    CHECK(test::values_of<std::uint32_t>(result.buffers[0]) == r);
                    CHECK(test::values_of<std::uint32_t>(result.buffers[1]) == s);
                }
            }
        }
    }
}

TEST_CASE("streams give the same bytes wherever they begin and end") {
    // The offsets make loads and stores unaligned for registers, and some of them out of range.
    for (const std::string& isa : test::isas()) {
        test::Rig rig(isa);
        test::Loaded program(
            rig,
            "wye 1; program stream; workgroup 64; param x_at: u32; param y_at: i32; param r_at: "
            "u32; input x: f32[]; input y: f32[]; table t: f32[3] = { 1.5, -2.5, 8.0 }; "
            "input_output r: f32[]; input_output d: f64[]; main { let i = global_id.x; "
            "let v = 3.0 * x[i + x_at] + y[i32(i) + y_at]; r[i + r_at] = v; "
            "d[i] = f64(v) / f64(y[i]) + f64(t[i]); }");
        for (const std::size_t count : {1U, 64U, 512U, 513U, 2100U, 4096U}) {
            for (const std::uint32_t shift : {0U, 1U, 16U, 512U, 0xffffffffU, 0xfffffe00U}) {
                std::vector<float> x(count);
                std::vector<float> y(count);
                for (std::size_t n = 0; n < count; ++n) {
                    x[n] = float(n) * 0.25F;
                    y[n] = n % 5 == 3 ? std::numeric_limits<float>::quiet_NaN() : float(n % 7);
                }
                const std::vector<float> before(count, -1.0F);
                const std::vector<double> d_before(count, -1.0);
                const std::uint32_t groups = std::uint32_t((count + 63) / 64);
                const auto result = program.run({shift, std::uint32_t(0U - shift), shift},
                                                {test::bytes_of(x), test::bytes_of(y),
                                                 test::bytes_of(before), test::bytes_of(d_before)},
                                                {{groups, 1, 1}});
                REQUIRE(result.failure.message == "");
                const auto at = [&](const std::vector<float>& of, std::uint32_t index) {
                    return index < of.size() ? of[index] : 0.0F;
                };
                std::vector<std::uint32_t> r(count, 0xbf800000U);
                std::vector<std::uint64_t> d(count, 0xbff0000000000000U);
                for (std::uint32_t i = 0; i < groups * 64; ++i) {
                    volatile float product = 3.0F * at(x, i + shift);  // two roundings
                    const float v = product + at(y, i - shift);
                    if (i + shift < count) {
                        std::memcpy(&r[i + shift], &v, 4);
                        if (std::isnan(v)) r[i + shift] = kNan;
                    }
                    if (i >= count) continue;
                    const float table[] = {1.5F, -2.5F, 8.0F};
                    const double w = double(v) / double(y[i]) + double(i < 3 ? table[i] : 0.0F);
                    std::memcpy(&d[i], &w, 8);
                    if (std::isnan(w)) d[i] = 0x7ff8000000000000U;
                }
                CAPTURE(isa);
                CAPTURE(count);
                CAPTURE(shift);
                CHECK(test::values_of<std::uint32_t>(result.buffers[2]) == r);
                CHECK(test::values_of<std::uint64_t>(result.buffers[3]) == d);
            }
        }
    }
}

TEST_CASE("a NaN that arithmetic stores straight to memory is the canonical one") {
    // A NaN with a payload and a sign, which the processor's operations would pass on.
    const std::uint32_t x_bits = 0xffc12345U;
    for (const std::string& isa : test::isas()) {
        test::Rig rig(isa);
        for (const char* value : {"x[i] + 1.0", "1.0 - x[i]", "x[i] * x[i]", "2.0 / x[i]",
                                  "x[i] * 2.0 + x[i]", "(x[i] - 1.0) - 2.0", "3.0 - x[i] * 4.0",
                                  "fma(x[i], 2.0, x[i])", "sqrt(x[i])", "-x[i]", "x[i]"}) {
            test::Loaded program(rig, std::string("wye 1; program nans; workgroup 64; input x: "
                                                  "f32[]; output r: f32[len(x)]; output s: "
                                                  "f32[len(x)]; grid elements len(x); main { let i "
                                                  "= global_id.x; r[i] = ") +
                                          value + "; let v = " + value +
                                          "; s[i] = v; r[i] = min(v, r[i]); }");
            const U32s x(2048, x_bits);
            const auto result =
                program.run({}, {test::bytes_of(x), test::Bytes(8192), test::Bytes(8192)});
            REQUIRE(result.failure.message == "");
            CAPTURE(isa);
            CAPTURE(value);
            CHECK(test::values_of<std::uint32_t>(result.buffers[1]) == U32s(2048, kNan));
            CHECK(test::values_of<std::uint32_t>(result.buffers[2]) == U32s(2048, kNan));
        }
    }
}

TEST_CASE("what a program reads and writes in one buffer is read before it is written") {
    test::Rig rig;
    test::Loaded program(
        rig,
        "wye 1; program in_place; workgroup 64; input_output w: u32[]; grid elements len(w); main "
        "{ let i = global_id.x; let old = w[i]; w[i] = old * 3u; w[i] = w[i] + old; if i % 2u == "
        "0u { w[i] = old ^ w[i]; } }");
    U32s w(3000);
    for (std::uint32_t n = 0; n < 3000; ++n) w[n] = n * 2654435761U;
    const auto result = program.run({}, {test::bytes_of(w)});
    REQUIRE(result.failure.message == "");
    U32s expected(3000);
    for (std::uint32_t n = 0; n < 3000; ++n) {
        expected[n] = w[n] * 4;
        if (n % 2 == 0) expected[n] ^= w[n];
    }
    CHECK(test::values_of<std::uint32_t>(result.buffers[0]) == expected);
}
