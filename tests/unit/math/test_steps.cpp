// SPDX-License-Identifier: Apache-2.0
//
// Division and square root of f64 by steps (runtime/lower/math/set2_steps.wye), as GPUs compute
// them, run on the CPU with and without fma. Their errors must be below an ulp. So `hypot`, which
// is made of such a square root, must be right also where the exact result is the middle of two
// f32.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "wye/wye.hpp"

namespace {

constexpr std::size_t kCount = 1U << 18U;

template <typename T>
T take(wye::Result<T> result) {
    if (!result.ok()) FAIL(result.error().text());
    return std::move(result).value();
}

std::string file(const std::string& name) {
    std::stringstream out;
    out << std::ifstream(std::string(WYE_MATH_FOLDER) + "/" + name).rdbuf();
    REQUIRE(out.str().size() > 500);
    return out.str();
}
// A function of a text.
std::string function(const std::string& text, const std::string& name) {
    const std::size_t begin = text.find("fn " + name + "(");
    REQUIRE(begin != std::string::npos);
    return text.substr(begin, text.find("\n}\n", begin) + 3 - begin);
}
// The definitions, in which every division and square root is by steps.
std::string definitions(bool fused) {
    std::string steps = file("set2_steps.wye");
    for (const std::string name : {"math2_quotient", "math2_root"}) {
        const std::size_t own = steps.find("fn " + name + "(");
        steps.erase(own, steps.find('\n', own) - own);
        steps.replace(steps.find("fn " + name + "_by_steps("), name.size() + 13,
                      "fn " + name + "(");
    }
    const std::string pairs = file("set2_pairs.wye");
    return "fn math2_mad(a: f64, b: f64, c: f64) -> f64 { return " +
           std::string(fused ? "fma(a, b, c)" : "a * b + c") + "; }\n" + steps +
           function(pairs, "math2_sum") + function(pairs, "math2_rounded_f32") +
           function(pairs, "math2_hypot_f32");
}

// The distance of two positive numbers, in steps from one f64 to the next.
std::uint64_t steps_apart(double a, double b) {
    const auto x = std::bit_cast<std::uint64_t>(a), y = std::bit_cast<std::uint64_t>(b);
    return x > y ? x - y : y - x;
}

template <typename T>
std::vector<T> run(const std::string& type, const std::string& call, bool fused,
                   const std::vector<T>& x, const std::vector<T>& y) {
    const auto context = take(wye::Context::create({.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT}));
    const auto device = take(context.open("cpu"));
    const auto program = take(context.program_from_text(
        "wye 1; math 2; program steps; workgroup 64; input left: " + type +
        "[]; input right: " + type + "[len(left)]; output found: " + type +
        "[len(left)]; grid elements len(left);\n" + definitions(fused) +
        "main { let i = global_id.x; if i < len(left) { found[i] = " + call + "; } }"));
    std::vector<T> r(x.size());
    (void)take(
        wye::Dispatch(program, device).input("left", x).input("right", y).output("found", r).run());
    return r;
}

TEST_CASE("a quotient and a square root by steps have an error of less than an ulp") {
    std::mt19937_64 random(1);
    const auto number = [&](double range) {
        const double exponent = std::uniform_real_distribution<double>(-range, range)(random);
        return std::exp2(exponent);
    };
    std::vector<double> x, y;
    for (std::size_t i = 0; i < kCount; ++i) {
        x.push_back(i == 0 ? 0 : number(i % 2 == 0 ? 1 : 900));
        y.push_back(number(i % 2 == 0 ? 1 : 100));
    }
    for (const bool fused : {true, false}) {
        CAPTURE(fused);
        const auto q = run("f64", "math2_quotient(left[i], right[i])", fused, x, y);
        const auto s = run("f64", "math2_root(left[i])", fused, x, y);
        std::uint64_t worst_q = 0, worst_s = 0;
        for (std::size_t i = 0; i < kCount; ++i) {
            worst_q = std::max(worst_q, steps_apart(q[i], x[i] / y[i]));
            worst_s = std::max(worst_s, steps_apart(s[i], std::sqrt(x[i])));
        }
        CHECK(worst_q <= 1);
        CHECK(worst_s <= 1);
    }
}

TEST_CASE("hypot is right at the middle of two numbers, and beside it") {
    std::mt19937 random(2);
    const auto between = [&](std::uint32_t low, std::uint32_t high) {
        return static_cast<float>(std::uniform_int_distribution<std::uint32_t>(low, high)(random));
    };
    std::vector<float> x, y, right;
    for (std::size_t i = 0; i < kCount; ++i) {
        const float scale = std::exp2(static_cast<float>(static_cast<int>(i % 150)) - 90);
        if (i % 2 == 0) {
            // 5k has 25 bits, and is odd. The even one of its neighbours is right.
            const float k = 2 * between((1U << 24U) / 10 + 1, (1U << 24U) / 6) + 1;
            x.push_back(3 * k * scale);
            y.push_back(4 * k * scale);
            right.push_back(static_cast<float>(5 * static_cast<double>(k)) * scale);
        } else {
            // y^2 is nearly m + 1/4, so m^2 + y^2 is nearly (m + 1/2)^2. If the two are equal, m is
            // k (k + 1) for some k, so m is even.
            const double m = between(1U << 23U, (1U << 24U) - 2);
            const auto root = static_cast<float>(std::sqrt(m + 0.25));
            const double off = static_cast<double>(root) * root - (m + 0.25);
            x.push_back(static_cast<float>(m) * scale);
            y.push_back(root * scale);
            right.push_back(static_cast<float>(off <= 0 ? m : m + 1) * scale);
        }
    }
    for (const bool fused : {true, false}) {
        CAPTURE(fused);
        CHECK(run("f32", "math2_hypot_f32(left[i], right[i])", fused, x, y) == right);
    }
}

}  // namespace
