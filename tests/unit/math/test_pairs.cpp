// SPDX-License-Identifier: Apache-2.0
//
// Functions that compute in pairs of f32 (runtime/lower/math/pairs.wye), on the CPU, compared with
// the strict functions: on one of 4093 values of f32, or on all with WYE_MATH_ALL=1. A pair decides
// a result if the pair's error cannot change how it is rounded. Nearly all pairs must decide, and
// each that does must give the right result.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/sanitized.hpp"
#include "wye/wye.hpp"

namespace {

constexpr std::uint32_t kTogether = 1U << 20U;

template <typename T>
T take(wye::Result<T> result) {
    if (!result.ok()) FAIL(result.error().text());
    return std::move(result).value();
}

void replace(std::string& text, const std::string& what, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
        text.replace(at, what.size(), by);
}

// A function, and its second argument, if it has one: random bits, or a multiple of 1/2.
struct Function {
    std::string_view name, second = {};
};
constexpr std::string_view kBits = "bitcast<f32>(rotl(bits * 2654435761u, 13u))";
constexpr std::string_view kHalves = "0.5 * f32(bits * 2654435761u >> 26u) - 16.0";
constexpr Function kFunctions[] = {
    {"exp"},   {"exp2"},         {"exp10"},        {"expm1"},      {"sinh"},
    {"cosh"},  {"tanh"},         {"log"},          {"log2"},       {"log10"},
    {"log1p"}, {"sin"},          {"cos"},          {"tan"},        {"sinpi"},
    {"cospi"}, {"asin"},         {"acos"},         {"atan"},       {"cbrt"},
    {"erf"},   {"atan2", kBits}, {"hypot", kBits}, {"pow", kBits}, {"pow", kHalves}};

// An fma on f32: none, an exact one, or one that treats subnormal numbers as zero.
enum class Fma { None, Exact, Flushes };

// The definitions on a device with such an fma. Results that a pair does not decide are NaN.
std::string definitions(Fma fma) {
    std::string out;
    for (const Function& f : kFunctions)
        if (f.second != kHalves)
            out += "fn math2_" + std::string(f.name) + "_f32(x: f32" +
                   (f.second.empty() ? "" : ", y: f32") + ") -> f32 { return nan_f32; }\n";
    out +=
        "fn flushed(v: f32) -> f32 { return select(abs(v) < 0x1p-126, copysign(0.0, v), v); }\n"
        "fn flushing_fma(a: f32, b: f32, c: f32) -> f32 {\n"
        "return flushed(fma(flushed(a), flushed(b), flushed(c))); }\n";
    std::stringstream file;
    file << std::ifstream(WYE_MATH_PAIRS).rdbuf();
    std::string pairs = file.str();
    REQUIRE(pairs.size() > 1000);
    if (fma != Fma::None) {
        for (const std::string name : {"pairs_product", "pairs_onto", "pairs_rest"}) {
            replace(pairs, "fn " + name + "(", "fn " + name + "_split(");
            replace(pairs, "fn " + name + "_fused(", "fn " + name + "(");
        }
        replace(pairs, "return a * b + c;", "return fma(a, b, c);");
    }
    if (fma == Fma::Flushes) replace(pairs, " fma(", " flushing_fma(");
    return out + pairs;
}

}  // namespace

TEST_CASE("pairs decide nearly all results, and decide them right") {
    const bool all = std::getenv("WYE_MATH_ALL") != nullptr;
    const std::uint32_t step = all ? 1 : support::kSanitized ? 16381 : 4093;
    const auto context = take(wye::Context::create({.flags = WYE_CONTEXT_IGNORE_ENVIRONMENT}));
    const auto device = take(context.open("cpu"));
    for (const Fma fma : {Fma::None, Fma::Exact, Fma::Flushes}) {
        const std::string text = definitions(fma);
        for (const Function& f : kFunctions) {
            const std::string name(f.name);
            const std::string second(f.second.empty() ? "1.0" : f.second);
            const std::string arguments = f.second.empty() ? "(x)" : "(x, y)";
            // Decided and undecided results are counted only for arguments from 2^-20 to 8, and
            // results that are far from the largest and the smallest normal numbers.
            const auto program = take(context.program_from_text(
                "wye 1; math 2; program pairs; workgroup 64; param first: u32; param by: u32;\n"
                "output found: u32[]; grid elements len(found);\n" +
                text +
                "fn ordinary(v: f32) -> bool { return abs(v) >= 0x1p-20 && abs(v) <= 8.0; }\n"
                "main { let i = global_id.x; if i < len(found) {\n"
                "let bits = first + i * by; let x = bitcast<f32>(bits);\n"
                "let y = " +
                second + ";\nlet right = " + name + arguments + "; let r = pairs_" + name + "_f32" +
                arguments +
                ";\n"
                "let common = ordinary(x) && ordinary(y) && abs(right) >= 0x1p-125 && abs(right) < "
                "0x1p125;\n"
                "found[i] = select(isnan(r), select(common, 1u, 0u),\n"
                "select(bitcast<u32>(r) == bitcast<u32>(right), select(common, 2u, 0u), 3u)); } "
                "}"));
            std::uint64_t undecided = 0, decided = 0, wrong = 0;
            const std::uint64_t values = (std::uint64_t{1} << 32U) / step;
            for (std::uint64_t begin = 0; begin < values; begin += kTogether) {
                std::vector<std::uint32_t> found(
                    std::min<std::uint64_t>(kTogether, values - begin));
                (void)take(wye::Dispatch(program, device)
                               .param("first", static_cast<std::uint32_t>(begin * step))
                               .param("by", step)
                               .output("found", found)
                               .run());
                undecided += static_cast<std::uint64_t>(std::ranges::count(found, 1U));
                decided += static_cast<std::uint64_t>(std::ranges::count(found, 2U));
                wrong += static_cast<std::uint64_t>(std::ranges::count(found, 3U));
            }
            CAPTURE(name + arguments + second);
            CAPTURE(undecided);
            CAPTURE(decided);
            CHECK(wrong == 0);
            CHECK(undecided < decided / 1000);
        }
    }
}
