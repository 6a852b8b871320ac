// SPDX-License-Identifier: Apache-2.0
//
// Tests error budgets: exactly the functions whose error in the specifications is within the budget
// become native.
#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "lower/lower.hpp"
#include "lower/passes/native_functions.hpp"
#include "programs.hpp"

namespace test_natives {

namespace {

using namespace wye::lower;
using wye::ir::Op;

// f32 and f64 figures as the specifications list them; 0: none, or exact.
struct Stated {
    double f32, f64;
};
using Figures = std::map<std::string, Stated>;

const Figures kOpenCl = {{"/", {2.5, 0}},   {"sqrt", {3, 0}},  {"exp", {3, 3}},   {"exp2", {3, 3}},
                         {"exp10", {3, 3}}, {"log", {3, 3}},   {"log2", {3, 3}},  {"log10", {3, 3}},
                         {"sin", {4, 4}},   {"cos", {4, 4}},   {"tan", {5, 5}},   {"asin", {4, 4}},
                         {"acos", {4, 4}},  {"atan", {5, 5}},  {"atan2", {6, 6}}, {"sinh", {4, 4}},
                         {"cosh", {4, 4}},  {"tanh", {5, 5}},  {"pow", {16, 16}}, {"rsqrt", {2, 2}},
                         {"cbrt", {2, 2}},  {"hypot", {4, 4}}, {"erf", {16, 16}}, {"expm1", {3, 3}},
                         {"log1p", {2, 2}}, {"sinpi", {4, 4}}, {"cospi", {4, 4}}};
const Figures kCuda = {{"/", {2, 0}},     {"sqrt", {2, 0}},  {"exp", {2, 1}},   {"exp2", {2, 1}},
                       {"exp10", {2, 1}}, {"log", {1, 1}},   {"log2", {1, 1}},  {"log10", {2, 1}},
                       {"sin", {2, 2}},   {"cos", {2, 2}},   {"tan", {4, 2}},   {"asin", {4, 2}},
                       {"acos", {3, 2}},  {"atan", {2, 2}},  {"atan2", {3, 2}}, {"sinh", {3, 2}},
                       {"cosh", {2, 1}},  {"tanh", {2, 1}},  {"pow", {9, 2}},   {"rsqrt", {2, 1}},
                       {"cbrt", {1, 1}},  {"hypot", {3, 2}}, {"erf", {2, 2}},   {"expm1", {1, 1}},
                       {"log1p", {1, 1}}, {"sinpi", {2, 2}}, {"cospi", {2, 2}}};
// Except for rsqrt, the figures up to 4 are those of the library's fast definitions.
const Figures kVulkan = {{"rsqrt", {2, 0}}, {"atan", {4096, 0}}, {"atan2", {4096, 0}},
                         {"exp", {1, 0}},   {"exp2", {2, 0}},    {"exp10", {2, 0}},
                         {"log", {1, 0}},   {"log2", {1, 0}},    {"log10", {1, 0}},
                         {"sin", {3, 0}},   {"cos", {3, 0}},     {"tanh", {2, 0}},
                         {"erf", {2, 0}}};

// r = OP(x) or OP(x, y) on one type.
std::string program_of(const std::string& op, int operands, const std::string& type) {
    std::string value = op + "(x[i]" + (operands == 2 ? ", y[i])" : ")");
    if (op == "/") value = "x[i] / y[i]";
    return "wye 1; math 2; program p; workgroup 64; input x: " + type + "[]; input y: " + type +
           "[]; output r: " + type + "[len(x)]; grid elements len(x);\n" +
           "main { let i = global_id.x; if i < len(r) { r[i] = " + value + "; } }";
}

Artifact lowered(const std::string& text, std::string_view format, std::uint32_t budget) {
    Options options;
    options.ulp_budget = budget;
    auto artifact = wye::lower::lower(valid_program(text), format, {}, options);
    if (!artifact.ok()) FAIL(artifact.error().text());
    return std::move(artifact).value();
}

template <typename Visit>
void each_operation(Visit visit) {
    visit("/", 2);
    visit("sqrt", 1);
#define WYE_TEST_VISIT(name, code, text, operands) visit(text, operands);
    WYE_MATH(WYE_TEST_VISIT)
#undef WYE_TEST_VISIT
}

std::string names_of(NativeSet set) {
    std::string out;
    for (unsigned bit = 0; bit < 64; ++bit)
        if ((set >> bit & 1U) != 0) out += std::string(native_name(bit)) + ";";
    return out;
}

}  // namespace

TEST_CASE("an operation is native exactly where its stated error is within the budget") {
    const std::map<std::string_view, Figures> dialects = {
        {WYE_FORMAT_OPENCL_C, kOpenCl}, {WYE_FORMAT_CUDA_C, kCuda}, {WYE_FORMAT_SPIRV, kVulkan}};
    for (const auto& dialect : dialects)
        each_operation([&](const std::string& op, int operands) {
            const std::string_view format = dialect.first;  // clang 14 cannot capture [a, b]
            const Figures& figures = dialect.second;
            for (const std::string type : {"f32", "f64"}) {
                const auto at = figures.find(op);
                const double ulp = at == figures.end() ? 0
                                   : type == "f32"     ? at->second.f32
                                                       : at->second.f64;
                const std::string text = program_of(op, operands, type);
                const Artifact strict = lowered(text, format, 0);
                CHECK(strict.natives == 0);
                for (const std::uint32_t budget : {1U, 2U, 3U, 4U, 5U, 6U, 8U, 9U, 16U, 4096U}) {
                    CAPTURE(format);
                    CAPTURE(op);
                    CAPTURE(type);
                    CAPTURE(budget);
                    const Artifact loose = lowered(text, format, budget);
                    const bool native = ulp != 0 && ulp <= budget;
                    CHECK(names_of(loose.natives) ==
                          (native ? op + " (" + type + ");" : std::string()));
                    CHECK((loose.code == strict.code) == !native);
                    CHECK(loose.entry == strict.entry);
                }
            }
        });
}

TEST_CASE("the text calls the dialect's own function and no definition") {
    const std::string cuda(lowered(program_of("sin", 1, "f32"), WYE_FORMAT_CUDA_C, 2).text());
    CHECK(cuda.find("sinf(") != std::string::npos);
    CHECK(cuda.find("double") == std::string::npos);
    const std::string opencl(lowered(program_of("pow", 2, "f64"), WYE_FORMAT_OPENCL_C, 16).text());
    CHECK(opencl.find("pow(") != std::string::npos);
    const std::string divide(lowered(program_of("/", 2, "f32"), WYE_FORMAT_CUDA_C, 2).text());
    CHECK(divide.find("div.full.f32 %0, %1, %2;") != std::string::npos);
    const Artifact plain = lowered(program_of("/", 2, "f32"), WYE_FORMAT_OPENCL_C, 3);
    CHECK(plain.text().find("double") == std::string::npos);
    CHECK(plain.options.find("correctly-rounded") == std::string::npos);
}

TEST_CASE("nothing else loosens: f16, other types, the inside of definitions, other operations") {
    const auto same = [](const std::string& text, std::string_view format, std::uint32_t budget) {
        const Artifact loose = lowered(text, format, budget);
        return loose.natives == 0 && loose.code == lowered(text, format, 0).code;
    };
    const std::string half =
        "wye 1; program p; workgroup 64; input x: f16[]; output r: f16[len(x)]; grid elements "
        "len(x);\nmain { let i = global_id.x; if i < len(r) { r[i] = sqrt(x[i]) / x[i]; } }";
    const std::string exact =
        "wye 1; program p; workgroup 64; input x: f32[]; output r: f32[len(x)]; grid elements "
        "len(x);\nmain { let i = global_id.x; if i < len(r) { r[i] = fma(x[i], x[i], x[i]) + "
        "floor(x[i]) * min(x[i], 3.0); } }";
    for (const std::string_view format : {WYE_FORMAT_CUDA_C, WYE_FORMAT_OPENCL_C, WYE_FORMAT_SPIRV})
        for (const std::string& text : {half, exact}) CHECK(same(text, format, 16));
    // In CUDA, sinh needs a budget of 3. The definition of sinh divides in f64, and this division
    // stays exact.
    CHECK(same(program_of("sinh", 1, "f32"), WYE_FORMAT_CUDA_C, 2));
    // The program itself, which CPUs run, is strict under every budget.
    CHECK(same(program_of("sin", 1, "f32"), WYE_FORMAT_PROGRAM, 4096));
}

TEST_CASE("functions that do not fit the budget stand beside those that do") {
    const std::string text =
        "wye 1; program p; workgroup 64; input x: f32[]; output r: f32[len(x)]; grid elements "
        "len(x);\nfn f(a: f32) -> f32 { return pow(a, 1.5) + sin(a); }\n"
        "main { let i = global_id.x; if i < len(r) { let v = exp(f32x2(x[i], f(x[i])));"
        " r[i] = v.x + v.y; } }";
    const Artifact artifact = lowered(text, WYE_FORMAT_OPENCL_C, 4);
    CHECK(names_of(artifact.natives) == "exp (f32);sin (f32);");
    CHECK(artifact.text().find("sin(") != std::string::npos);
    CHECK(artifact.text().find("exp(") != std::string::npos);
    CHECK(artifact.text().find("pow(") == std::string::npos);
    CHECK(names_of(lowered(text, WYE_FORMAT_OPENCL_C, 16).natives) ==
          "exp (f32);sin (f32);pow (f32);");
}

}  // namespace test_natives
