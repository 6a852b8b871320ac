// SPDX-License-Identifier: Apache-2.0
//
// Error budgets on real drivers. The results are compared with the host's math library, here in
// long double.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/driver.hpp"
#include "take.hpp"
#include "wye/wye.hpp"

namespace wye::test::test_budget {
namespace {

using api_test::take;

template <typename T>
struct Function {
    const char* name;  // of a function of the language, or `/`
    int operands;
    std::uint32_t opencl;  // the stated error in ulp, rounded up; 0: never native
    std::uint32_t vulkan;
    T low, high;  // the range of the first operand; the second is from 0.1 to 8
    std::function<long double(long double, long double)> exact;
};

using L = long double;
constexpr L kPi = 3.14159265358979323846264338327950288L;
constexpr std::size_t kSamples = 1024;

template <typename T>
std::vector<Function<T>> functions() {
    const bool single = sizeof(T) == 4;
    const std::uint32_t v1 = single ? 1 : 0;
    const std::uint32_t v2 = single ? 2 : 0;
    const std::uint32_t v3 = single ? 3 : 0;
    const std::uint32_t v4096 = single ? 4096 : 0;
    return {
        {"/", 2, single ? 3U : 0U, 0, -100, 100, [](L a, L b) { return a / b; }},
        {"sqrt", 1, single ? 3U : 0U, 0, 0, 1e6, [](L a, L) { return std::sqrt(a); }},
        {"exp", 1, 3, v1, -20, 20, [](L a, L) { return std::exp(a); }},
        {"exp2", 1, 3, v2, -20, 20, [](L a, L) { return std::exp2(a); }},
        {"exp10", 1, 3, v2, -10, 10, [](L a, L) { return std::pow(L{10}, a); }},
        {"log", 1, 3, v1, T(1e-3), 1e3, [](L a, L) { return std::log(a); }},
        {"log2", 1, 3, v1, T(1e-3), 1e3, [](L a, L) { return std::log2(a); }},
        {"log10", 1, 3, v1, T(1e-3), 1e3, [](L a, L) { return std::log10(a); }},
        {"sin", 1, 4, v3, -50, 50, [](L a, L) { return std::sin(a); }},
        {"cos", 1, 4, v3, -50, 50, [](L a, L) { return std::cos(a); }},
        {"tan", 1, 5, 0, -50, 50, [](L a, L) { return std::tan(a); }},
        {"asin", 1, 4, 0, -1, 1, [](L a, L) { return std::asin(a); }},
        {"acos", 1, 4, 0, -1, 1, [](L a, L) { return std::acos(a); }},
        {"atan", 1, 5, v4096, -50, 50, [](L a, L) { return std::atan(a); }},
        {"atan2", 2, 6, v4096, -50, 50, [](L a, L b) { return std::atan2(a, b); }},
        {"sinh", 1, 4, 0, -10, 10, [](L a, L) { return std::sinh(a); }},
        {"cosh", 1, 4, 0, -10, 10, [](L a, L) { return std::cosh(a); }},
        {"tanh", 1, 5, v2, -5, 5, [](L a, L) { return std::tanh(a); }},
        {"pow", 2, 16, 0, T(0.1), 20, [](L a, L b) { return std::pow(a, b); }},
        {"rsqrt", 1, 2, v2, T(1e-3), 1e3, [](L a, L) { return 1 / std::sqrt(a); }},
        {"cbrt", 1, 2, 0, -1e3, 1e3, [](L a, L) { return std::cbrt(a); }},
        {"hypot", 2, 4, 0, -50, 50, [](L a, L b) { return std::hypot(a, b); }},
        {"erf", 1, 16, v2, -3, 3, [](L a, L) { return std::erf(a); }},
        {"expm1", 1, 3, 0, -10, 10, [](L a, L) { return std::expm1(a); }},
        {"log1p", 1, 2, 0, T(-0.9), 1e3, [](L a, L) { return std::log1p(a); }},
        {"sinpi", 1, 4, 0, T(-0.5), T(0.5), [](L a, L) { return std::sin(kPi * a); }},
        {"cospi", 1, 4, 0, T(-0.25), T(0.25), [](L a, L) { return std::cos(kPi * a); }},
    };
}

// The error in ulp of the exact result.
template <typename T>
double error_in_ulp(T got, L exact) {
    int exponent = 0;
    (void)std::frexp(exact, &exponent);
    const int least = std::numeric_limits<T>::min_exponent;
    const L ulp = std::ldexp(L{1}, std::max(exponent, least) - std::numeric_limits<T>::digits);
    return static_cast<double>(std::fabs((static_cast<L>(got) - exact) / ulp));
}

// One program that calls every function, each on a separate part of the inputs. Drivers compile
// slowly, so this is faster than one program for each function.
template <typename T>
std::string text_of(const std::vector<Function<T>>& all) {
    const std::string type = sizeof(T) == 4 ? "f32" : "f64";
    std::string body;
    for (std::size_t k = 0; k < all.size(); ++k) {
        const std::string at = "[i + " + std::to_string(k * kSamples) + "u]";
        std::string value =
            std::string(all[k].name) + "(x" + at + (all[k].operands == 2 ? ", y" + at + ")" : ")");
        if (std::string(all[k].name) == "/") value = "x" + at + " / y" + at;
        body += "    r" + at + " = " + value + ";\n";
    }
    return "wye 1; math 2; program p; workgroup 64; input x: " + type + "[]; input y: " + type +
           "[len(x)]; output r: " + type + "[len(x)]; grid elements " + std::to_string(kSamples) +
           ";\nmain { let i = global_id.x;\n" + body + "}";
}

template <typename T>
std::vector<T> run(const wye::Program& program, const wye::Device& device, std::uint32_t budget,
                   const std::vector<T>& x, const std::vector<T>& y, std::uint64_t& natives) {
    std::vector<T> r(x.size());
    const wye_report report = take(wye::Dispatch(program, device)
                                       .ulp_budget(budget)
                                       .input("x", x)
                                       .input("y", y)
                                       .output("r", r)
                                       .run());
    natives = report.native_functions;
    return r;
}

template <typename T>
bool equal(const std::vector<T>& a, const std::vector<T>& b) {
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <typename T>
void check_all(const wye::Context& context, const wye::Device& device, bool vulkan) {
    std::vector<Function<T>> all = functions<T>();
    const auto stated = [&](const Function<T>& f) { return vulkan ? f.vulkan : f.opencl; };
    std::erase_if(all, [&](const Function<T>& f) { return stated(f) == 0; });
    const auto program = take(context.program_from_text(text_of(all)));
    std::mt19937 random(7);
    std::vector<T> x;
    std::vector<T> y;
    for (const Function<T>& f : all) {
        std::uniform_real_distribution<double> first(f.low, f.high);
        std::uniform_real_distribution<double> second(0.1, 8);
        for (std::size_t i = 0; i < kSamples; ++i) {
            x.push_back(static_cast<T>(first(random)));
            y.push_back(static_cast<T>(second(random)));
        }
    }
    std::uint64_t natives = 0;
    const auto strict = run(program, take(context.open("cpu")), 4096, x, y, natives);
    CHECK(natives == 0);  // the CPU uses no native function, whatever the budget
    CHECK(equal(run(program, device, 0, x, y, natives), strict));
    CHECK(natives == 0);
    const auto loose = run(program, device, 4096, x, y, natives);
    CHECK(static_cast<std::size_t>(std::popcount(natives)) == all.size());
    std::string names;
    for (std::uint32_t bit = 0; bit < 64; ++bit)
        if ((natives >> bit & 1U) != 0) names += std::string(wye_native_function_name(bit)) + ";";
    for (std::size_t k = 0; k < all.size(); ++k) {
        const Function<T>& f = all[k];
        CAPTURE(f.name);
        CHECK(names.find(std::string(f.name) + (sizeof(T) == 4 ? " (f32);" : " (f64);")) !=
              std::string::npos);
        double worst = 0;
        for (std::size_t i = k * kSamples; i < (k + 1) * kSamples; ++i)
            worst = std::max(worst, error_in_ulp(loose[i], f.exact(x[i], y[i])));
        CHECK(worst <= stated(f));
    }
}

}  // namespace

TEST_CASE("every native function is within its stated error") {
    const auto context =
        take(wye::Context::create({.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT,
                                   .plugin_paths = {support::test_driver_folder()}}));
    const std::string driver = support::test_driver();
    const auto device = take(context.open(driver));
    const bool vulkan = driver.starts_with("vulkan");
    check_all<float>(context, device, vulkan);
    if (!vulkan) check_all<double>(context, device, vulkan);
}

}  // namespace wye::test::test_budget
