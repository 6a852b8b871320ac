// SPDX-License-Identifier: Apache-2.0
//
// The fast functions that use only f32 (runtime/lower/math/fast.wye), on the CPU, compared with the
// host's functions in f64: on one of 1021 values of f32, or on all with WYE_MATH_ALL=1.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "wye/wye.hpp"

namespace {

struct Function {
    const char* name;
    double (*right)(double);
    double ulp;  // as runtime/lower/passes/native_functions.cpp states it
};
constexpr Function kFunctions[] = {
    {"exp", std::exp, 1},   {"exp2", std::exp2, 2},   {"exp10", ::exp10, 2}, {"log", std::log, 1},
    {"log2", std::log2, 1}, {"log10", std::log10, 1}, {"sin", std::sin, 3},  {"cos", std::cos, 3},
    {"tanh", std::tanh, 2}, {"erf", std::erf, 2}};
constexpr std::uint32_t kTogether = 1U << 22U;

// The error, in ulp of f32 at the right value; 0 if both are the same special value.
double error(float got, double right) {
    if (std::isnan(right)) return std::isnan(got) ? 0 : INFINITY;
    // An infinite result counts as 2^128, the step after the largest f32.
    const double wide = std::isinf(got) ? std::copysign(0x1p128, got) : got;
    const double within = std::clamp(right, -0x1p128, 0x1p128);
    if (within == 0) return std::bit_cast<std::uint32_t>(got) << 1U == 0 ? 0 : INFINITY;
    int exponent = 0;
    (void)std::frexp(within, &exponent);
    return std::fabs(wide - within) / std::ldexp(1.0, std::clamp(exponent, -125, 128) - 24);
}

template <typename T>
T take(wye::Result<T> result) {
    if (!result.ok()) FAIL(result.error().text());
    return std::move(result).value();
}

}  // namespace

TEST_CASE("fast functions are within their stated errors") {
    const std::uint32_t step = std::getenv("WYE_MATH_ALL") != nullptr ? 1 : 1021;
    std::stringstream definitions;
    definitions << std::ifstream(WYE_MATH_FAST).rdbuf();
    REQUIRE(definitions.str().size() > 1000);
    const auto context = take(wye::Context::create({.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT}));
    const auto device = take(context.open("cpu"));
    for (const Function& f : kFunctions) {
        const auto program = take(context.program_from_text(
            "wye 1; math 2; program fast; workgroup 64; param first: u32; param by: u32;\n"
            "output results: f32[]; grid elements len(results);\n"
            "fn math2_sin_f32(a: f32) -> f32 { return sin(a); }\n"
            "fn math2_cos_f32(a: f32) -> f32 { return cos(a); }\n" +
            definitions.str() +
            "main { let i = global_id.x; if i < len(results) { results[i] = fast_" + f.name +
            "_f32(bitcast<f32>(first + i * by)); } }"));
        double worst = 0;
        std::uint32_t at = 0;
        const std::uint64_t values = (std::uint64_t{1} << 32U) / step;
        for (std::uint64_t begin = 0; begin < values; begin += kTogether) {
            std::vector<float> r(std::min<std::uint64_t>(kTogether, values - begin));
            const auto first = static_cast<std::uint32_t>(begin * step);
            (void)take(wye::Dispatch(program, device)
                           .param("first", first)
                           .param("by", step)
                           .output("results", r)
                           .run());
            for (std::uint32_t i = 0; i < r.size(); ++i) {
                const std::uint32_t bits = first + i * step;
                const double e = error(r[i], f.right(std::bit_cast<float>(bits)));
                if (e > worst) at = bits;
                worst = std::max(worst, e);
            }
        }
        CHECK_MESSAGE(worst <= f.ulp, std::string(f.name), ": ", worst, " ulp at ", at);
    }
}
