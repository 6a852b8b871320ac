// SPDX-License-Identifier: Apache-2.0
//
// f64 and 64-bit integers in words of 32 bits (runtime/lower/math/words.wye): each operation on
// pairs of values, on the CPU, compared with the host's own arithmetic.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "support/random.hpp"
#include "wye/program_format.h"
#include "wye/wye.hpp"

namespace {

using Values = std::vector<std::uint64_t>;

double f64(std::uint64_t bits) { return std::bit_cast<double>(bits); }
std::uint64_t bits(double value) {
    return std::isnan(value) ? 0x7ff8000000000000U : std::bit_cast<std::uint64_t>(value);
}
float f32(std::uint64_t value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value)); }
std::uint64_t bits(float value) {
    return std::isnan(value) ? 0x7fc00000U : std::bit_cast<std::uint32_t>(value);
}

// An operation. `text`: the expression in the program, over a and b, the words of x[i] and y[i].
// `right`: computes the right value.
struct Operation {
    std::string text;
    std::function<std::uint64_t(std::uint64_t, std::uint64_t)> right;
};

using U64 = std::uint64_t;
const std::vector<Operation> kOperations = {
    {"words_add_f64(a, b)", [](U64 a, U64 b) { return bits(f64(a) + f64(b)); }},
    {"words_sub_f64(a, b)", [](U64 a, U64 b) { return bits(f64(a) - f64(b)); }},
    {"words_mul_f64(a, b)", [](U64 a, U64 b) { return bits(f64(a) * f64(b)); }},
    {"words_div_f64(a, b)", [](U64 a, U64 b) { return bits(f64(a) / f64(b)); }},
    {"words_sqrt_f64(a)", [](U64 a, U64) { return bits(std::sqrt(f64(a))); }},
    {"words_neg_f64(a)", [](U64 a, U64) { return a ^ (U64{1} << 63U); }},
    {"words_abs_f64(a)", [](U64 a, U64) { return a & ~(U64{1} << 63U); }},
    {"words_copysign_f64(a, b)",
     [](U64 a, U64 b) { return (a & ~(U64{1} << 63U)) | (b & (U64{1} << 63U)); }},
    {"words_trunc_f64(a)",
     [](U64 a, U64) { return std::isnan(f64(a)) ? a : bits(std::trunc(f64(a))); }},
    {"u32x2(u32(words_eq_f64(a, b)), 0u)", [](U64 a, U64 b) { return U64{f64(a) == f64(b)}; }},
    {"u32x2(u32(words_lt_f64(a, b)), 0u)", [](U64 a, U64 b) { return U64{f64(a) < f64(b)}; }},
    {"u32x2(u32(words_le_f64(a, b)), 0u)", [](U64 a, U64 b) { return U64{f64(a) <= f64(b)}; }},
    {"u32x2(u32(words_isnan_f64(a)), 0u)", [](U64 a, U64) { return U64{std::isnan(f64(a))}; }},
    {"u32x2(u32(words_isinf_f64(a)), 0u)", [](U64 a, U64) { return U64{std::isinf(f64(a))}; }},
    {"u32x2(bitcast<u32>(words_convert_f32_f64(a)), 0u)",
     [](U64 a, U64) { return bits(static_cast<float>(f64(a))); }},
    {"words_convert_f64_f32(bitcast<f32>(a.x))",
     [](U64 a, U64) { return bits(static_cast<double>(f32(a))); }},
    {"words_convert_f64_u32(a.x)", [](U64 a, U64) { return bits(double(std::uint32_t(a))); }},
    {"words_convert_f64_i32(bitcast<i32>(a.x))",
     [](U64 a, U64) { return bits(double(static_cast<std::int32_t>(a))); }},
    {"words_convert_f64_u64(a)", [](U64 a, U64) { return bits(static_cast<double>(a)); }},
    {"words_add_u64(a, b)", [](U64 a, U64 b) { return a + b; }},
    {"words_sub_u64(a, b)", [](U64 a, U64 b) { return a - b; }},
    {"words_mul_u64(a, b)", [](U64 a, U64 b) { return a * b; }},
    {"words_mul_hi_u64(a, b)",
     [](U64 a, U64 b) {
         __extension__ using Wide = unsigned __int128;
         return static_cast<U64>((Wide{a} * b) >> 64U);
     }},
    {"words_shl_u64(a, b.x)", [](U64 a, U64 b) { return a << (b & 63U); }},
    {"words_shr_u64(a, b.x)", [](U64 a, U64 b) { return a >> (b & 63U); }},
    {"words_clz_u64(a)", [](U64 a, U64) { return U64(std::countl_zero(a)); }},
    {"u32x2(u32(words_eq_u64(a, b)), 0u)", [](U64 a, U64 b) { return U64{a == b}; }},
    {"u32x2(u32(words_lt_u64(a, b)), 0u)", [](U64 a, U64 b) { return U64{a < b}; }},
    {"u32x2(u32(words_le_u64(a, b)), 0u)", [](U64 a, U64 b) { return U64{a <= b}; }},
};

// Half of the pairs have similar values: nearly equal or opposite, or some binades apart. A quarter
// of all values have few bits set, so that sums and products are ties.
void make_pairs(Values& x, Values& y) {
    support::Random random(7);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = support::random_scalar(random, WYE_KIND_F64);
        y[i] = support::random_scalar(random, WYE_KIND_F64);
        if (random.chance(25)) x[i] &= ~U64{0} << random.below(64);
        if (random.chance(25)) y[i] &= ~U64{0} << random.below(64);
        if (random.chance(50)) continue;
        y[i] = x[i] + (static_cast<U64>(random.between(-70, 70)) << 52U) +
               (random.chance(50) ? random.below(5) : random.next() >> random.between(12, 62));
        if (random.chance(50)) y[i] ^= U64{1} << 63U;
    }
}

// Runs an operation on all pairs.
struct Device {
    Device() {
        words << std::ifstream(WYE_MATH_WORDS).rdbuf();
        REQUIRE(words.str().size() > 1000);
        REQUIRE(context.ok());
        REQUIRE(device.ok());
    }
    void run(const std::string& body, const Values& x, const Values& y,
             std::vector<Values>& results) {
        std::string text =
            "wye 1; math 2; program words; workgroup 64; input given_a: u64[]; input given_b: "
            "u64[];\n";
        for (std::size_t k = 0; k < results.size(); ++k)
            text += "output r" + std::to_string(k) + ": u64[len(given_a)];\n";
        text +=
            "grid elements len(given_a);\n" + words.str() +
            "main { let i = global_id.x; if i < len(given_a) { let a = bitcast<u32x2>(given_a[i]); "
            "let b = bitcast<u32x2>(given_b[i]);\n" +
            body + "} }\n";
        auto program = context->program_from_text(text);
        if (!program.ok()) FAIL(program.error().text());
        wye::Dispatch dispatch(*program, *device);
        dispatch.input("given_a", x).input("given_b", y);
        for (std::size_t k = 0; k < results.size(); ++k) {
            results[k].resize(x.size());
            dispatch.output("r" + std::to_string(k), results[k]);
        }
        const auto ran = dispatch.run();
        if (!ran.ok()) FAIL(ran.error().text());
    }

    std::stringstream words;
    wye::Result<wye::Context> context =
        wye::Context::create({.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT});
    wye::Result<wye::Device> device = context->open("cpu");
};

}  // namespace

TEST_CASE("each operation in words gives the bytes of the host's") {
    std::string body;
    for (std::size_t k = 0; k < kOperations.size(); ++k)
        body += "r" + std::to_string(k) + "[i] = bitcast<u64>(" + kOperations[k].text + ");\n";
    Values x(1U << 18U), y(x.size());
    make_pairs(x, y);
    std::vector<Values> results(kOperations.size());
    Device().run(body, x, y, results);
    for (std::size_t k = 0; k < results.size(); ++k) {
        unsigned wrong = 0;
        for (std::size_t i = 0; i < x.size() && wrong < 4; ++i) {
            const U64 right = kOperations[k].right(x[i], y[i]);
            if (results[k][i] == right) continue;
            ++wrong;
            CHECK_MESSAGE(false, kOperations[k].text, ": a ", x[i], ", b ", y[i], ": ",
                          results[k][i], ", not ", right);
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("an exact product in words is that of the host's fma") {
    support::Random random(3);
    Values x(1U << 16U), y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        const auto any = [&] {  // from 2^-400 to 2^400
            const U64 exponent = 623 + random.below(801);
            return (random.next() & 0x800fffffffffffffU & ~U64{0} << random.below(53)) | exponent
                                                                                             << 52U;
        };
        x[i] = any();
        y[i] = any();
    }
    std::vector<Values> results(2);
    Device().run(
        "let p = math_product(a, b); r0[i] = bitcast<u64>(words_first(p)); "
        "r1[i] = bitcast<u64>(words_second(p));",
        x, y, results);
    unsigned wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double product = f64(x[i]) * f64(y[i]);
        const double rest = std::fma(f64(x[i]), f64(y[i]), -product);
        wrong += results[0][i] != bits(product) || results[1][i] != bits(rest);
    }
    CHECK(wrong == 0);
}

// The second step of `pow` in words, which is rarely reached, compared with `pow` on the CPU.
TEST_CASE("the second step of `pow` in words is correctly rounded") {
    support::Random random(5);
    Values x(1U << 15U), y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        float base = 0, power = 0;
        if (i % 3 == 0) {  // middles of two f32, and exact powers
            base = std::ldexp(float(1 + 2 * random.below(2048)), int(random.between(-40, 20)));
            power = float(random.below(128)) / 8;
        } else if (i % 3 == 1) {  // any base, subnormal ones too
            base = f32(1 + random.below(0x7f7fffff));
            power = float(random.between(-1000, 1000)) * 0x1p-10F * 150 / std::abs(std::log2(base));
        } else {  // near 1
            base = f32(0x3f800000 + U64(random.between(-100, 100)));
            power = float(random.between(-1000, 1000)) * 0x1p-10F * 150 / std::abs(std::log2(base));
        }
        if (std::isinf(power) || std::isnan(power)) power = 1;
        x[i] = bits(base);
        y[i] = bits(power);
    }
    std::vector<Values> results(2);
    Device().run(
        "let x = bitcast<f32>(a.x); let y = bitcast<f32>(b.x); "
        "r0[i] = u64(bitcast<u32>(math2_pow_accurate_f32(x, y))); "
        "r1[i] = u64(bitcast<u32>(pow(x, y)));",
        x, y, results);
    unsigned wrong = 0;
    for (std::size_t i = 0; i < x.size() && wrong < 4; ++i) {
        if (results[0][i] == results[1][i]) continue;
        ++wrong;
        CHECK_MESSAGE(false, f32(x[i]), " to the power ", f32(y[i]), ": ", results[0][i], ", not ",
                      results[1][i]);
    }
    CHECK(wrong == 0);
}
