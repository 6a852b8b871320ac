// SPDX-License-Identifier: Apache-2.0
//
// Tests what the strict pass keeps, adds and refuses. The functions' results are tested in
// tests/unit/math.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <string>
#include <vector>

#include "lower/passes/math_library.hpp"
#include "lower/passes/strict.hpp"
#include "oracle/oracle.hpp"
#include "program/wire/encode.hpp"
#include "programs.hpp"
#include "wye/sdk/wire.hpp"

namespace test_strict {

namespace {

using wye::ir::Op;
using wye::ir::Program;

Program expanded(const std::string& text) {
    auto result = wye::lower::expand_math(valid_program(text));
    if (!result.ok()) FAIL(result.error().text());
    return std::move(result).value();
}

std::string refusal(const std::string& text) {
    const auto result = wye::lower::expand_math(valid_program(text));
    if (result.ok()) return {};
    CHECK(result.error().code == wye::Code::LIMIT_EXCEEDED);
    CHECK(result.error().fix.rfind("Fix: ", 0) == 0);
    return result.error().message;
}

std::set<std::string> function_names(const Program& program) {
    std::set<std::string> out;
    for (const auto& f : program.functions) CHECK(out.insert(f.name).second);
    return out;
}

const std::string kHead = "wye 1; program p; workgroup 1; input x: f32[4]; output r: f32[4];\n";

// Makes a program whose main uses each operation of a math set, on scalars and on vectors.
std::string every_operation(const std::string& type, unsigned set) {
    std::string body;
    const auto use = [&](Op op, const char* text, int operands) {
        if (wye::ir::op_math_set(op) > set) return;
        for (const std::string& t : {type, type + "x3"}) {
            const std::string a = t + "(x[0])";
            body += "if true { let v = " + std::string(text) + "(" + a +
                    (operands == 2 ? ", " + a : "");
            body += "); r[0] = v" + std::string(t == type ? "" : ".y") + "; }\n";
        }
    };
#define WYE_TEST_USE(name, code, text, operands) use(Op::name, text, operands);
    WYE_MATH(WYE_TEST_USE)
#undef WYE_TEST_USE
    return "wye 1; math " + std::to_string(set) + "; program p; workgroup 1; input x: " + type +
           "[4]; output r: " + type + "[4];\nmain { " + body + " }";
}

}  // namespace

TEST_CASE("the library is a valid program, in text and in the wire form") {
    Program library = wye::lower::math_library();
    CHECK(wye::ir::validate(library).empty());
    auto again = wye::ir::parse(wye::ir::print(library));
    REQUIRE(again.ok());
    CHECK(wye::ir::same_program(library, again.program));
    for (const auto& f : library.functions)
        CHECK((f.name.starts_with("math_") || f.name.starts_with("math2_") ||
               f.name.starts_with("fast_")));

    Program words = wye::lower::math_library_in_words();
    CHECK(wye::ir::validate(words).empty());
    const auto names = function_names(words);
    for (const auto& f : library.functions)
        if (f.name.ends_with("_f32")) CHECK_MESSAGE(names.contains(f.name), f.name);
}

TEST_CASE("every operation is defined, and none is left") {
    for (unsigned k = 0; k < 8; ++k) {
        const char* const type = k % 2 == 0 ? "f32" : "f64";
        const unsigned set = 1 + k / 2 % 2;
        const Program program = valid_program(every_operation(type, set));
        CHECK(wye::lower::uses_math(program));
        auto result = wye::lower::expand_math(program, 0, {.fused = k >= 4});
        REQUIRE(result.ok());
        const auto names = function_names(*result);
        CHECK(std::ranges::any_of(names, [](const std::string& name) {
                  return name.starts_with("math2_");
              }) == (set == 2));
        CHECK_FALSE(wye::lower::uses_math(*result));
        // The result is valid and canonical: a plugin decodes the same program.
        Program checked = *result;
        CHECK(wye::ir::validate(checked).empty());
        const auto wire = wye::ir::encode(*result, wye::ir::Notes::Drop);
        REQUIRE(wire.ok());
        const auto decoded = wye::ir::decode(*wire);
        REQUIRE(decoded.ok());
        CHECK(wye::ir::same_program(*result, *decoded));
    }
}

// On devices with a fast fma, every call of `math2_mad` becomes an fma. On others, all calls stay.
TEST_CASE("products and sums are fused where the device says so") {
    wye::lower::TargetFacts exact, none;
    exact.native_f64_fma = true;
    for (const char* format : {WYE_FORMAT_CUDA_C, WYE_FORMAT_OPENCL_C, WYE_FORMAT_SPIRV}) {
        CHECK(wye::lower::math_ways(format, exact).fused);
        CHECK_FALSE(wye::lower::math_ways(format, none).fused);
    }
    CHECK_FALSE(wye::lower::math_ways(WYE_FORMAT_PROGRAM, exact).fused);
    for (const bool fused : {false, true}) {
        const Program program = valid_program(every_operation("f32", 2));
        const auto result = wye::lower::expand_math(program, 0, {.fused = fused});
        REQUIRE(result.ok());
        const auto names = function_names(*result);
        CHECK(names.contains("math2_mad") == !fused);
        std::size_t fma = 0;
        for (const auto& f : result->functions)
            fma += static_cast<std::size_t>(
                std::ranges::count(f.code.exprs, Op::FMA, &wye::ir::Expr::op));
        if (!fused) CHECK(fma == 0);
    }
}

TEST_CASE("f32 functions are computed in pairs where f64 is slow or missing") {
    wye::lower::TargetFacts slow, missing, fast, normals;
    slow.f32_to_f64_rate = 64;
    missing.f64 = false;
    fast.f32_to_f64_rate = 2;
    normals.native_normal_f32_fma = true;
    using wye::lower::math_ways;
    CHECK(math_ways(WYE_FORMAT_CUDA_C, slow).pairs);
    CHECK_FALSE(math_ways(WYE_FORMAT_CUDA_C, fast).pairs);
    CHECK_FALSE(math_ways(WYE_FORMAT_CUDA_C, {}).pairs);
    CHECK_FALSE(math_ways(WYE_FORMAT_SPIRV, slow).pairs);  // without a fast fma on f32
    CHECK(math_ways(WYE_FORMAT_SPIRV, missing).pairs);
    CHECK_FALSE(math_ways(WYE_FORMAT_SPIRV, missing).fused_f32);
    CHECK(math_ways(WYE_FORMAT_SPIRV, normals).fused_f32);
    for (const bool fused : {false, true}) {
        const auto result = wye::lower::expand_math(valid_program(every_operation("f32", 2)), 0,
                                                    {.pairs = true, .fused_f32 = fused});
        REQUIRE(result.ok());
        const auto names = function_names(*result);
        CHECK(names.contains("pairs_exp_f32"));
        CHECK(names.contains("math2_exp_f32"));  // where rounding the pair is uncertain
        CHECK(names.contains("pairs_product_fused") == fused);
        CHECK(names.contains("pairs_product") == !fused);
    }
}

TEST_CASE("a program that pairs make too long is lowered without them") {
    const auto names = [](unsigned calls) {
        std::string body;
        for (unsigned k = 0; k < calls; ++k) body += "r[0] = tan(x[0]);\n";
        const auto result = wye::lower::expand_math(
            valid_program("wye 1; math 2" + kHead.substr(5) + "main { " + body + "}"), 0,
            {.pairs = true, .fused_f32 = true});
        if (!result.ok()) FAIL(result.error().text());
        return function_names(*result);
    };
    CHECK(names(1).contains("pairs_tan_f32"));
    unsigned calls = 100;
    while (calls < 4000 && names(calls).contains("pairs_tan_f32")) calls += 100;
    CHECK(calls < 4000);
}

// The functions' results are tested in tests/differential/c11.
TEST_CASE("on a device that has nothing of 64 bits, f32 functions are computed in words") {
    wye::lower::TargetFacts no_f64, no_int64;
    no_f64.f64 = no_int64.int64 = false;
    for (const char* format : {WYE_FORMAT_CUDA_C, WYE_FORMAT_SPIRV, WYE_FORMAT_PROGRAM}) {
        CHECK(wye::lower::math_ways(format, no_f64).words);
        CHECK(wye::lower::math_ways(format, no_int64).words);
        CHECK_FALSE(wye::lower::math_ways(format, {}).words);
    }
    const auto check = [](const char* text, int operands, unsigned set) {
        const std::string x = operands == 2 ? "(f32x2(x[0]), f32x2(x[1]))" : "(f32x2(x[0]))";
        const auto result = wye::lower::expand_math(
            valid_program("wye 1; math " + std::to_string(set) + kHead.substr(5) +
                          "main { let v = " + text + x + "; r[0] = v.x + v.y; }"),
            0, {.words = true});
        if (!result.ok()) FAIL(result.error().text());
        for (const auto& f : result->functions)
            for (const auto& e : f.code.exprs) CHECK(e.type.bits() != 64);
    };
#define WYE_TEST_CHECK(name, code, text, operands) \
    for (unsigned set = wye::ir::op_math_set(Op::name); set <= 2; ++set) check(text, operands, set);
    WYE_MATH(WYE_TEST_CHECK)
#undef WYE_TEST_CHECK
}

TEST_CASE("a plugin is given programs of math set 1") {
    for (const char* value : {"expm1(x[0])", "x[0]"}) {
        const std::string text =
            "wye 1; math 2; program p; workgroup 1; input x: f32[4]; "
            "output r: f32[4] locality streaming;\nmain { r[0] = " +
            std::string(value) + "; }";
        const auto artifact = wye::lower::lower(valid_program(text), WYE_FORMAT_PROGRAM, {});
        REQUIRE(artifact.ok());
        const auto given = wye::ir::decode(artifact->code);
        REQUIRE(given.ok());
        CHECK(given->math_set == 1);
        CHECK(wye::ir::least_minor(*given) == 0);
    }
}

TEST_CASE("the pass adds only functions that the program uses") {
    CHECK_FALSE(wye::lower::uses_math(valid_program(kHead + "main { r[0] = sqrt(x[0]); }")));
    const Program logs = expanded(kHead + "main { r[0] = log(x[0]) + log(x[1]); }");
    CHECK(function_names(logs) == std::set<std::string>{"math_log2_for_f32", "math_log_f32"});
    CHECK(logs.tables.empty());
    const Program sines = expanded(kHead + "main { r[0] = sin(x[0]) + cos(x[1]); }");
    CHECK(sines.tables.size() == 1);
    const Program vectors =
        expanded(kHead + "main { let v = exp(exp(f32x2(x[0], x[1]))); r[0] = v.x + exp(v.y); }");
    CHECK(function_names(vectors) ==
          std::set<std::string>{"math_exp2_for_f32", "math_exp_f32", "math_exp_f32x2"});
}

TEST_CASE("each device gets the definition of `rsqrt` that it has the operations for") {
    using wye::lower::RootWay;
    wye::lower::TargetFacts gpu, cpu, no_f64;
    cpu.workgroup_loops = cpu.native_f64_div = cpu.native_f64_sqrt = true;
    no_f64.f64 = no_f64.int64 = false;
    const auto way = [](const char* format, const wye::lower::TargetFacts& facts) {
        return wye::lower::math_ways(format, facts).root;
    };
    CHECK(way(WYE_FORMAT_PROGRAM, cpu) == RootWay::ThroughF64);
    CHECK(way(WYE_FORMAT_PROGRAM, no_f64) == RootWay::InWords);
    CHECK(way(WYE_FORMAT_CUDA_C, gpu) == RootWay::FromStart);
    CHECK(way(WYE_FORMAT_OPENCL_C, gpu) == RootWay::FromStart);
    CHECK(way(WYE_FORMAT_OPENCL_C, cpu) == RootWay::ThroughF64);
    CHECK(way(WYE_FORMAT_OPENCL_C, no_f64) == RootWay::FromStart);
    CHECK(way(WYE_FORMAT_SPIRV, gpu) == RootWay::Form);
    CHECK(way(WYE_FORMAT_SPIRV, cpu) == RootWay::ThroughF64);
    CHECK(way(WYE_FORMAT_SPIRV, no_f64) == RootWay::Form);

    const std::string text =
        kHead + "main { let v = rsqrt(f32x2(x[0], x[1])); r[0] = v.x + rsqrt(v.y); }";
    const auto names = [&](RootWay root) {
        const auto result = wye::lower::expand_math(valid_program(text), 0, {.root = root});
        REQUIRE(result.ok());
        for (const auto& f : result->functions)
            for (const auto& e : f.code.exprs)
                if (root != RootWay::ThroughF64) CHECK(e.type.bits() != 64);
        return function_names(*result);
    };
    const std::set<std::string> words = {"math_rsqrt_reduced_f32", "math_rsqrt_missing_f32",
                                         "math_rsqrt_corrected_f32"};
    const auto with = [](std::set<std::string> some, const std::string& definition) {
        some.insert({definition, "math_rsqrt_f32x2"});
        return some;
    };
    CHECK(names(RootWay::ThroughF64) == with({}, "math_rsqrt_f32"));
    CHECK(names(RootWay::InWords) == with(words, "math_rsqrt_f32_in_words"));
    CHECK(names(RootWay::FromStart) == with(words, "math_rsqrt_f32_from_start"));
    CHECK(names(RootWay::Form).empty());
    for (const char* format : {WYE_FORMAT_CUDA_C, WYE_FORMAT_OPENCL_C}) {
        const auto artifact = wye::lower::lower(valid_program(text), format, no_f64);
        REQUIRE(artifact.ok());
        CHECK(artifact->text().find("double") == std::string::npos);
        CHECK(artifact->text().find("rsqrt") != std::string::npos);
    }
}

TEST_CASE("names of the program are left alone") {
    const Program program = expanded(R"(wye 1; program math_log_f32; workgroup 1;
param math_log_f32: f32; input math_log2_for_f32: f32[4]; output r: f32[4];
table math_two_over_pi: f32[1] = { 1.0 };
fn math_exp_f32(math_sin_f32: f32) -> f32 { return sin(exp(math_sin_f32)) * math_two_over_pi[0]; }
main { r[0] = log(math_exp_f32(math_log_f32) + math_log2_for_f32[0]); })");
    const auto names = function_names(program);
    CHECK(names.contains("math_exp_f32"));
    CHECK(names.contains("math_exp_f32_2"));
    CHECK(names.contains("math_log_f32_2"));
    CHECK(names.contains("math_log2_for_f32_2"));
    REQUIRE(program.tables.size() == 2);
    CHECK(program.tables[0].name == "math_two_over_pi");
    CHECK(program.tables[1].name == "math_two_over_pi_2");
    CHECK(program.functions.back().name == "math_exp_f32");
    const auto again = wye::ir::parse(wye::ir::print(program));
    REQUIRE(again.ok());
    CHECK(wye::ir::same_program(program, again.program));
}

TEST_CASE("a vector is its components, calls of the program's own functions still theirs") {
    const std::string text = R"(wye 1; program p; workgroup 1;
input x: f32[8]; output v: f32[4]; output s: f32[4];
fn half(a: f32) -> f32 { return a * 0.5; }
fn mixed(a: f32, b: f32) -> f32 { return pow(half(a), cos(b)); }
main {
    let a = f32x4(x[0], x[1], x[2], x[3]);
    let b = f32x4(x[4], x[5], x[6], x[7]);
    let r = pow(a * f32x4(0.5), cos(b));
    v[0] = r.x; v[1] = r.y; v[2] = r.z; v[3] = r.w;
    for i in 0..4 { s[i] = mixed(x[i], x[i + 4]); }
})";
    const auto wire = wye::ir::encode(expanded(text), wye::ir::Notes::Drop);
    REQUIRE(wire.ok());
    const std::vector<float> x = {1.5F, 2.25F, 100.0F, 0.03F, 0.0F, 1.0F, -2.0F, 1e30F};
    const auto* bytes = reinterpret_cast<const std::byte*>(x.data());
    oracle::Launch launch;
    launch.groups = {1, 1, 1};
    launch.buffers = {{bytes, bytes + 32}, {}, {}};
    const auto outcome = oracle::run(*wire, launch);
    REQUIRE(outcome.error == "");
    CHECK(outcome.buffers[1] == outcome.buffers[2]);
    const auto* r = reinterpret_cast<const float*>(outcome.buffers[1].data());
    CHECK(r[0] == 0.75F);  // cos(0) is 1
    CHECK(r[1] > 1.06F);   // 1.125^0.54 is 1.0657...
    CHECK(r[1] < 1.07F);
}

TEST_CASE("limits of the language hold with the definitions") {
    std::string functions;
    for (int i = 0; i < 1022; ++i)
        functions += "fn g_" + std::to_string(i) + "(a: f32) -> f32 { return a; }\n";
    CHECK(refusal(kHead + functions + "main { r[0] = log(g_0(x[0])); }") == "");
    CHECK(refusal(kHead + functions + "fn g(a: f32) -> f32 { return a; }\n" +
                  "main { r[0] = log(x[0]); }")
              .find("1025 functions") != std::string::npos);
    std::string tables;
    for (int i = 0; i < 64; ++i) tables += "table t" + std::to_string(i) + ": u32[1] = { 1u };\n";
    CHECK(refusal(kHead + tables + "main { r[0] = log(x[0]); }") == "");
    CHECK(refusal(kHead + tables + "main { r[0] = sin(x[0]); }").find("65 tables") !=
          std::string::npos);
    // 2^14 calls of erf are within the limits. With all calls inlined, the definition of erf is
    // not.
    std::string doubling = "fn d0(a: f32) -> f32 { return erf(a); }\n";
    for (int i = 1; i <= 14; ++i) {
        const std::string below = "d" + std::to_string(i - 1);
        doubling += "fn d" + std::to_string(i) + "(a: f32) -> f32 { return " + below + "(a) + " +
                    below + "(a); }\n";
    }
    CHECK(refusal(kHead + doubling + "main { r[0] = d14(x[0]); }").find("inlined") !=
          std::string::npos);
}

}  // namespace test_strict
