// SPDX-License-Identifier: Apache-2.0
//
// Tests that all written SPIR-V modules pass Khronos' validator and keep the contract with plugins.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include "lower/lower.hpp"
#include "lower/quirks/drivers.hpp"
#include "programs.hpp"
#include "support/examples.hpp"
#include "support/random_program.hpp"
#include "support/sanitized.hpp"
#include "support/slice.hpp"
#include "support/spirv_check.hpp"

using wye::lower::Artifact;
using wye::lower::lower;
using wye::lower::Options;
using wye::lower::TargetFacts;

namespace {

// A device on which every operation is native, with all float-control modes.
TargetFacts able() {
    TargetFacts facts;
    facts.native_f32_div = facts.native_f32_sqrt = facts.native_f32_fma = true;
    facts.native_f64_div = facts.native_f64_sqrt = facts.native_f64_fma = true;
    facts.native_f32_round = facts.native_f64_round = true;
    facts.f32_denorm_mode = facts.f32_sign_nan_mode = facts.f32_rte_mode = true;
    facts.f64_sign_nan_mode = facts.f64_rte_mode = true;
    facts.native_f16_convert = facts.native_f32_atomic_add = facts.native_f64_atomic_add = true;
    facts.max_push_bytes = 256;
    return facts;
}

// A device like lavapipe: f64 division and square root are exact, those of f32 are not, and the
// driver folds literal zeros.
TargetFacts folding() {
    TargetFacts facts;
    facts.native_f64_div = facts.native_f64_sqrt = facts.native_f32_round = true;
    facts.keeps_f32_denormals = true;
    facts.loop_rounds = 65535;
    facts.quirks = wye::lower::quirks_of({.platform = "llvmpipe",
                                          .driver = "Mesa 22.3.6 (LLVM 15.0.6)",
                                          .whole_workgroups = true,
                                          .folds_literal_zero = true});
    return facts;
}

// A device with all workarounds for NVIDIA's driver.
TargetFacts nvidia() {
    TargetFacts facts = able();
    facts.native_f32_div = facts.native_f32_sqrt = false;
    facts.quirks = wye::lower::quirks_of({.platform = "NVIDIA", .driver = "580.159.04"});
    return facts;
}

TargetFacts bare() {
    TargetFacts facts;
    facts.f64 = facts.storage8 = facts.storage16 = false;
    facts.max_push_bytes = 0;
    return facts;
}

Artifact lowered(const std::string& text, const TargetFacts& facts = {},
                 const Options& options = {}) {
    auto result = wye::lower::lower(valid_program(text), WYE_FORMAT_SPIRV, facts, options);
    if (!result.ok()) throw std::runtime_error(result.error().text());
    CHECK_MESSAGE(support::spirv_complaint(result->code) == "", text,
                  support::spirv_text(result->code));
    return *std::move(result);
}

void lower_everyhow(const std::string& text) {
    Options folded;
    folded.folded_grid = true;
    lowered(text);
    lowered(text, able(), folded);
    lowered(text, folding());
    lowered(text, nvidia());
    lowered(text, bare(), folded);
}

bool has(const Artifact& artifact, std::string_view text) {
    return support::spirv_text(artifact.code).find(text) != std::string::npos;
}

std::string main_of(const std::string& statements) {
    return "wye 1; program p; workgroup 8; param a: u32; param b: f64; input x: f32[]; "
           "input_output q: i64[]; output r: u32[len(x)]; shared s: u32[16]; "
           "main { let i = global_id.x; " +
           statements + " }";
}

}  // namespace

TEST_CASE("f32 quotients and roots need no 64-bit numbers") {
    const std::string text =
        "wye 1; program p; workgroup 64; input x: f32[]; input y: f32x2[]; output r: f32[len(x)]; "
        "output q: f32x2[len(y)]; grid elements len(x);\nmain { let i = global_id.x; "
        "r[i] = rsqrt(x[i]) + sqrt(x[i]) / x[i]; q[i] = rsqrt(y[i]) * sqrt(y[i]) / y[i]; }";
    TargetFacts fused;
    fused.native_f32_fma = true;
    TargetFacts little = bare();
    little.int64 = false;
    for (const TargetFacts& facts : {TargetFacts(), fused, bare(), little}) {
        const std::string module = support::spirv_text(lowered(text, facts).code);
        for (const char* wide : {"OpCapability Float64", "OpCapability Int64", "OpTypeInt 64",
                                 "OpTypeFloat 64", "OpFDiv"})
            CHECK_MESSAGE(module.find(wide) == std::string::npos, wide);
        CHECK(module.find("InverseSqrt") != std::string::npos);
        CHECK((module.find(" Fma ") != std::string::npos) == facts.native_f32_fma);
    }
}

TEST_CASE("fma of f32 is the device's own where that is exact, at least for normal numbers") {
    const std::string text =
        "wye 1; program p; workgroup 64; input x: f32[]; output r: f32[len(x)]; "
        "grid elements len(x); main { let i = global_id.x; r[i] = fma(x[i], x[i], 1.0); }";
    TargetFacts exact, normal;
    exact.native_f32_fma = normal.native_normal_f32_fma = true;
    for (const TargetFacts& facts : {TargetFacts(), exact, normal}) {
        const auto code = lowered(text, facts).code;
        CHECK(support::spirv_complaint(code).empty());
        const std::string module = support::spirv_text(code);
        const bool own = facts.native_f32_fma || facts.native_normal_f32_fma;
        CHECK((module.find(" Fma ") != std::string::npos) == own);
        // Unless fma is exact for all numbers, the module also has an emulation, in 64-bit
        // integers.
        CHECK((module.find("OpTypeInt 64") != std::string::npos) == !facts.native_f32_fma);
    }
}

TEST_CASE("the facts of NVIDIA's driver name its workarounds") {
    CHECK(nvidia().quirks.has(wye::lower::Quirk::VkLiteralArithmetic));
    CHECK(nvidia().quirks.has(wye::lower::Quirk::NvidiaVkDivisionCall));
}

TEST_CASE("the validator sees faults") {
    auto module = lowered(main_of("r[i] = a;")).code;
    CHECK(support::spirv_complaint(module).empty());
    module.resize(module.size() - 4);
    CHECK_FALSE(support::spirv_complaint(module).empty());
}

TEST_CASE("all example programs") {
    for (const std::string& name : support::example_programs())
        lower_everyhow(support::example_text(name));
}

TEST_CASE("random programs") {
    constexpr std::size_t kParts = support::kSanitized ? 12 : 3;
    const support::Slice slice = support::Slice::of_this_run();
    std::printf("slice: SPIR-V of random programs, %s\n", slice.text(kParts).c_str());
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        if (!slice.has(seed, kParts)) continue;
        support::RandomProgramOptions options;
        options.traps = seed % 2 == 0;
        options.size = 6 + seed % 20;
        lower_everyhow(support::random_program(seed, options).text);
    }
}

namespace {

// Lowers r[i] = `expression` for scalars and vectors of each kind. TYPE in the expression stands
// for the type. `result`: the kind of the result, or empty if it is that of the operands.
void operation(const std::string& expression, std::initializer_list<const char*> kinds,
               const std::string& result = "") {
    for (const std::string kind : kinds) {
        for (const std::string lanes : {"", "2", "3", "4"}) {
            const std::string type = kind + (lanes.empty() ? "" : "x" + lanes);
            const std::string out =
                result.empty() ? type : result + (lanes.empty() ? "" : "x" + lanes);
            std::string body = expression;
            for (std::size_t at = 0; (at = body.find("TYPE", at)) != std::string::npos;)
                body.replace(at, 4, type);
            const std::string text = "wye 1; program op; workgroup 8; input x: " + type +
                                     "[]; input y: " + type + "[len(x)]; input z: " + type +
                                     "[]; output r: " + out +
                                     "[len(x)]; main { let i = global_id.x; r[i] = " + body + "; }";
            lowered(text);
            lowered(text, folding());
            lowered(text, able());
        }
    }
}

}  // namespace

TEST_CASE("every operation on every type") {
    const auto ints = {"i32", "u32", "i64", "u64"};
    const auto floats = {"f16", "f32", "f64"};
    const auto all = {"i32", "u32", "i64", "u64", "f16", "f32", "f64"};
    for (const std::string op : {"+", "-", "*", "/"}) operation("x[i] " + op + " y[i]", all);
    for (const std::string op : {"%", "&", "|", "^"}) operation("x[i] " + op + " y[i]", ints);
    for (const std::string op : {"add_sat", "sub_sat", "mul_hi"})
        operation(op + "(x[i], y[i])", ints);
    for (const std::string op : {"min", "max"}) operation(op + "(x[i], y[i])", all);
    for (const std::string op : {"popcount", "clz", "ctz", "reverse_bits", "~"})
        operation(op + "(x[i])", ints);
    for (const std::string op : {"sqrt", "floor", "ceil", "trunc", "round"})
        operation(op + "(x[i])", floats);
    operation("copysign(x[i], y[i])", floats);
    operation("fma(x[i], y[i], z[i])", floats);
    operation("clamp(x[i], y[i], z[i])", all);
    operation("-x[i]", {"i32", "i64", "f16", "f32", "f64"});
    operation("abs(x[i])", {"i32", "i64", "f16", "f32", "f64"});
    operation("rotl(x[i], y[i])", {"u32"});
    operation("rotr(x[i], y[i])", {"u32"});
    operation("x[i] << y[i]", {"u32"});
    operation("x[i] >> y[i]", {"u32"});
    for (const std::string op : {"==", "!=", "<", "<=", ">", ">="})
        operation("select(x[i] " + op + " y[i], x[i], z[i])", all);
    operation("select(!isnan(x[i]), x[i], y[i])", floats);
    operation("select(isinf(x[i]), x[i], y[i])", floats);
}

TEST_CASE("shifts and rotations of wide integers, counts of 32 bits") {
    for (const std::string kind : {"i64", "u64"})
        for (const std::string op : {"x[i] << y[i]", "x[i] >> y[i]"})
            lower_everyhow("wye 1; program s; workgroup 8; input x: " + kind +
                           "[]; input y: u32[]; output r: " + kind +
                           "[]; main { let i = global_id.x; r[i] = " + op + "; }");
    lower_everyhow(
        "wye 1; program s; workgroup 8; input x: u64[]; input y: u32[]; output r: u64x2[]; main { "
        "let i = global_id.x; r[i] = u64x2(rotl(x[i], y[i]), rotr(x[i], 70u)); }");
}

TEST_CASE("every conversion") {
    const std::vector<std::string> kinds = {"bool", "i32", "u32", "i64",
                                            "u64",  "f16", "f32", "f64"};
    for (const std::string& from : kinds)
        for (const std::string& to : kinds) {
            if (to == "bool") continue;
            const std::string value = from == "bool" ? "x[i] != x[0]" : "x[i]";
            const std::string stored = from == "bool" ? "u32" : from;
            lower_everyhow(
                "wye 1; program c; workgroup 8; input x: " + stored + "x3[]; output r: " + to +
                "x3[]; main { let i = global_id.x; r[i] = " + to + "x3(" + value + "); }");
        }
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"u32", "f32"},
                                   {"f32", "u32"},
                                   {"i64", "f64"},
                                   {"f64", "i64"},
                                   {"i32", "u32"},
                                   {"u64", "u32x2"},
                                   {"u32x2", "u64"},
                                   {"u32", "f16x2"},
                                   {"f16x2", "u32"}})
        lower_everyhow("wye 1; program c; workgroup 8; input x: " + from + "[]; output r: " + to +
                       "[]; main { let i = global_id.x; r[i] = bitcast<" + to + ">(x[i]); }");
}

TEST_CASE("signs are extended to 64 bits by hand") {  // Mesa 22.3 miscompares what OpSConvert gives
    const Artifact artifact = lowered(main_of("q[i] = select(4095i64 < i64(i32(a)), 1i64, 2i64);"));
    CHECK_FALSE(has(artifact, "OpSConvert"));
    CHECK(has(artifact, "OpShiftRightArithmetic"));
}

TEST_CASE("every kind of element, in buffers, shared, local arrays and tables") {
    const std::vector<std::string> kinds = {"i8",  "u8",  "i16", "u16", "i32", "u32",
                                            "i64", "u64", "f16", "f32", "f64", "bf16"};
    for (const std::string& kind : kinds)
        for (const std::string lanes : {"", "x2", "x3", "x4"}) {
            const std::string type = kind + lanes;
            lower_everyhow("wye 1; program e; workgroup 8; input x: " + type + "[]; output r: " +
                           type + "[]; uniform c: " + type + "[5]; main { let i = global_id.x; " +
                           "r[i] = x[i]; r[i + 1u] = x[i64(i) - 3i64]; r[u64(i)] = c[i]; }");
        }
    for (const std::string kind : {"i32", "u64", "f16", "f32", "f64"})
        for (const std::string lanes : {"", "x2", "x3", "x4"}) {
            const std::string type = kind + lanes;
            lower_everyhow("wye 1; program e; workgroup 8; shared s: " + type + "[9]; output r: " +
                           type + "[]; main { let i = global_id.x; var a: " + type +
                           "[7]; a[i] = s[i]; barrier; s[i] = a[i % 7u]; r[i] = a[i]; }");
        }
    lower_everyhow(
        "wye 1; program e; workgroup 8; table t: f64[3] = { 1.0f64, inf_f64, nan_f64 }; "
        "table b: u32[2] = { 7u, 0xffffffffu }; output r: f64[]; main { let i = global_id.x; "
        "var k: u32[3]; k[i] = b[i]; r[i] = select(k[1] > 3u, t[i], t[k[2]]); }");
}

TEST_CASE("atomics of every kind") {
    for (const std::string kind : {"i32", "u32", "i64", "u64"}) {
        const std::string one = kind + "(1)";
        std::string body;
        for (const std::string op : {"exchange", "add", "min", "max", "and", "or", "xor"})
            for (const std::string array : {"q", "s"})
                body += "let " + op + array + " = atomic_" + op + "(" + array + "[i], " + one +
                        "); q[i] = " + op + array + "; ";
        lower_everyhow("wye 1; program a; workgroup 8; persistent q: " + kind +
                       "[]; shared s: " + kind + "[9]; main { let i = global_id.x; " + body +
                       "let l = atomic_load(q[i]); atomic_store(s[i], l); atomic_store(q[3], l); "
                       "let c = atomic_cas(q[i], l, " +
                       one + "); let d = atomic_cas(s[2], l, c); }");
    }
}

TEST_CASE("float additions in place: native, or compare and swap") {
    for (const std::string kind : {"f32", "f64"}) {
        const std::string text = "wye 1; program a; workgroup 8; persistent q: " + kind +
                                 "[]; shared s: " + kind +
                                 "[9]; main { let i = global_id.x; let old = atomic_add(q[i], " +
                                 kind + "(i)); atomic_add(s[i], old); q[0] = s[3] + q[i]; }";
        lower_everyhow(text);
        CHECK(has(lowered(text, able()), "OpAtomicFAddEXT"));
        CHECK_FALSE(has(lowered(text, able()), "OpAtomicCompareExchange"));
        CHECK(has(lowered(text), "OpAtomicCompareExchange"));
        CHECK_FALSE(has(lowered(text), "shader_atomic_float_add"));
    }
}

TEST_CASE("subgroup operations of every kind and width") {
    for (const std::string kind : {"i32", "u32", "f32", "i64", "u64", "f64"}) {
        std::string body;
        for (const std::string op : {"add", "min", "max", "inclusive_add", "exclusive_add"})
            body += "let n_" + op + " = subgroup_" + op + "(v); r[li + 1u] = n_" + op + "; ";
        for (const std::string op : {"broadcast", "shuffle", "shuffle_xor"})
            body += "let n_" + op + " = subgroup_" + op + "(v, 9u); r[li] = n_" + op + "; ";
        if (kind[0] != 'f')
            for (const std::string op : {"and", "or", "xor"})
                body += "let n_" + op + " = subgroup_" + op + "(v); r[li + 2u] = n_" + op + "; ";
        lower_everyhow("wye 1; program g; workgroup 16, 8; output r: " + kind +
                       "[]; output b: u32x4[]; main { let li = local_index; var v = " + kind +
                       "(li); " + body +
                       "let y = subgroup_any(li > 3u); let z = subgroup_all(y); "
                       "let w = subgroup_ballot(z); b[subgroup_id] = w; "
                       "b[local_id.y] = u32x4(subgroup_size, num_subgroups, subgroup_lane, li); }");
    }
    const Artifact artifact = lowered(
        "wye 1; program g; workgroup 4, 8, 2; subgroup 16; output r: u32[]; main { "
        "r[subgroup_lane] = local_id.y; }");
    CHECK(artifact.subgroup == 16);
    CHECK(artifact.workgroup == std::array<std::uint32_t, 3>{4, 8, 2});
    CHECK(has(artifact, "LocalSize 64 1 1"));
    CHECK(has(artifact, "BuiltIn SubgroupId"));
    CHECK_FALSE(has(artifact, "BuiltIn LocalInvocationId"));
}

TEST_CASE("control flow of every form") {
    for (const std::string body :
         {"if i < a { r[i] = 1u; return; } else { trap 7; }",
          "while true { if i < a { break; } else { continue; } }",
          "while r[i] < a { while true { r[i] = r[i] + 1u; if r[i] > 9u { break; } } }",
          "for k in 0..10 { if k == 3 { continue; } if k == 5 { break; } r[k] = a; }",
          "for k in i..a step r[i] { for j in k..i step 0u { r[j] = k; } }",
          "for k in -5i64..9i64 step i64(a) { q[k] = k; return; }",
          "var v = u32x3(a); v.y = v.x; v.z += 1u; for k in 0u..3u { v = v + v; } r[i] = v.x;",
          "if a == 0u { if i == 0u { r[i] = a; } else { trap 9; } } if i == 0u { return; }",
          "let w = workgroup_uniform_load(s[3]); if w == 0u { barrier; } s[local_index] = w;",
          "for k in 0u..workgroup_id.y { barrier; r[k] = s[k]; }"})
        lower_everyhow(main_of(body));
    lower_everyhow(R"(wye 1; program f; workgroup 4, 2; param a: i32; input x: f32x3[];
output r: f32x3[]; table t: u32[3] = { 1u, 2u, 3u };
fn flip(v: f32x3, on: boolx2) -> f32x3 {
    var out = v;
    for k in 0u..len(t) { if on.y { out.x += f32(t[k]); } else { out = out + x[k]; } }
    return out;
}
fn twice(v: f32x3) -> f32x3 { return flip(flip(v, boolx2(global_id.x == 0u, true)), boolx2(false)); }
fn unused(v: u32) -> u32 { return v; }
main { r[a] = twice(x[a]); r[global_id.y] = r[local_id.x] * f32x3(f32(num_workgroups.z)); })");
}

TEST_CASE("capabilities and modes only where something needs them") {
    const std::string plain = main_of("r[i] = a;");
    CHECK_FALSE(has(lowered(plain, able()), "Int64"));
    CHECK_FALSE(has(lowered(plain, able()), "DenormPreserve"));
    const Artifact floats = lowered(main_of("r[i] = bitcast<u32>(x[i] * x[i]);"), able());
    CHECK(has(floats, "OpExecutionMode %main DenormPreserve 32"));
    CHECK(has(floats, "OpExecutionMode %main SignedZeroInfNanPreserve 32"));
    CHECK(has(floats, "OpExecutionMode %main RoundingModeRTE 32"));
    CHECK_FALSE(has(floats, "RoundingModeRTE 64"));
    CHECK(has(floats, "NoContraction"));
    CHECK_FALSE(has(floats, "Float64"));
    CHECK_FALSE(
        has(lowered(main_of("r[i] = bitcast<u32>(x[i] * x[i]);")), "ExecutionMode %main D"));
    CHECK(has(lowered(main_of("q[0] = 1i64;")), "OpCapability Int64\n"));
    CHECK_FALSE(has(lowered(main_of("q[0] = 1i64;")), "Int64Atomics"));
    CHECK(has(lowered(main_of("atomic_add(q[0], 1i64);")), "OpCapability Int64Atomics"));
}

TEST_CASE("modules need nothing that a bare device lacks, or are refused") {
    TargetFacts facts = bare();
    facts.int64 = false;
    facts.quirks = wye::lower::QuirkSet::of_unknown_driver(true);
    for (const std::string& name : support::example_programs()) {
        CAPTURE(name);
        const Artifact made = lowered(support::example_text(name), facts);
        CHECK_FALSE(has(made, "OpCapability Int64"));
        CHECK_FALSE(has(made, "8BitAccess"));
        CHECK_FALSE(has(made, "16BitAccess"));
    }
    Options folded;
    folded.folded_grid = true;
    const auto refused = wye::lower::lower(valid_program(support::example_text("mix")),
                                           WYE_FORMAT_SPIRV, facts, folded);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == wye::Code::LIMIT_EXCEEDED);
}

TEST_CASE("a constant that becomes an f32 is hidden from a driver that folds it wrongly") {
    const std::string text = main_of("r[i] = bitcast<u32>(f32(bitcast<f64>(309604610u64)));");
    TargetFacts facts = able();
    for (const bool hides : {false, true}) {
        facts.quirks = wye::lower::QuirkSet::none();
        facts.quirks.set(wye::lower::Quirk::NvidiaConstantNarrowing, hides);
        CHECK(has(lowered(text, facts), "OpBitwiseXor %ulong") == hides);
    }
}

TEST_CASE("a literal that an array keeps is hidden from a driver that folds arithmetic wrongly") {
    const auto hides = [](const std::string& body, bool folds = true) {
        TargetFacts facts = able();
        facts.quirks = wye::lower::QuirkSet::none();
        facts.quirks.set(wye::lower::Quirk::VkLiteralArithmetic, folds);
        return has(lowered("wye 1; program p; workgroup 8; input_output r: f32[8]; input_output h: "
                           "bf16[8]; shared s: f32[8]; "
                           "shared w: u32[8]; main { let i = local_index; " +
                               body + " }",
                           facts),
                   "OpBitwiseOr");
    };
    CHECK(hides("s[i] = 6.5; r[i] = s[i] - 0.3;"));
    CHECK(hides("var a: f32[4]; a[i] = max(6.5, 0.3); r[i] = a[i] - 0.3;"));
    CHECK(hides("r[i] = 6.5; r[i] = r[i] - 0.3;"));
    CHECK(hides("h[i] = 6.5; r[i] = h[i] - 0.3;"));
    CHECK(hides("w[i] = 5u; r[i] = bitcast<f32>(w[i]) - 0.3;"));
    CHECK(hides("w[i] = 5u; r[i] = f32(w[i]) - 0.3;"));
    CHECK_FALSE(hides("s[i] = 6.5; r[i] = s[i] - 0.3;", false));
    CHECK_FALSE(hides("s[i] = 0.0; s[i] = f32(i); r[i] = s[i] - 0.3;"));
    CHECK_FALSE(hides("w[i] = 5u; w[i] = w[i] + 3u;"));
}

TEST_CASE(
    "buffers are coherent only if a load may follow a write, or another invocation's at a "
    "barrier") {
    CHECK(has(lowered(main_of("r[i] = 5u; r[a] = r[i];")), "%r Coherent"));
    CHECK(has(lowered(main_of("atomic_add(r[0], 1u); r[i] = r[a];")), "%r Coherent"));
    CHECK(has(lowered(main_of("for k in 0u..a { r[k] = r[k + 1u]; }")), "%r Coherent"));
    CHECK_FALSE(has(lowered(main_of("for k in 0u..a { r[k] = k; }")), "Coherent"));
    CHECK_FALSE(has(lowered(main_of("r[i] = r[a] + r[0]; q[0] = 1i64;")), "Coherent"));
    CHECK_FALSE(has(lowered(main_of("r[i] = r[a];")), "Coherent"));
    CHECK_FALSE(has(lowered(main_of("s[i] = a; barrier; r[i] = s[0];")), "Coherent"));
    CHECK(has(lowered(main_of("r[i] = a; barrier; r[i + 1u] = r[a];")), "%r Coherent"));
    CHECK(has(lowered(main_of("r[i] = 1u; barrier; r[0] = 2u;")), "%r Coherent"));
    CHECK(has(lowered(main_of("for k in 0u..a { r[0] = k; barrier; }")), "%r Coherent"));
}

TEST_CASE("proven accesses have no check, others are clamped or predicated") {
    const auto count = [](const Artifact& artifact, std::string_view what) {
        const std::string text = support::spirv_text(artifact.code);
        std::size_t n = 0;
        for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++n;
        return n;
    };
    const Artifact proven = lowered(main_of("if i < len(x) { r[i] = r[i] + 1u; }"));
    CHECK(count(proven, "OpSelectionMerge") == 1);
    CHECK(count(proven, "OpSelect ") == 1);  // limits the length to u32
    const Artifact checked = lowered(main_of("if i < a { r[i] = r[i] + 1u; }"));
    CHECK(count(checked, "OpSelectionMerge") == 2);
    CHECK(count(checked, "OpSelect ") == 3);
}

TEST_CASE("slots: push constants while they fit, else a read-only storage buffer") {
    const std::string text = main_of("r[i] = a + u32(b); if i > 99u { trap 3; }");
    const Artifact push = lowered(text);
    std::vector<std::array<std::uint32_t, 3>> slots;
    for (const wye_slot& slot : push.slots) slots.push_back({slot.kind, slot.binding, slot.offset});
    CHECK(slots == std::vector<std::array<std::uint32_t, 3>>{{WYE_SLOT_BUFFER, 0, 0},
                                                             {WYE_SLOT_BUFFER, 1, 0},
                                                             {WYE_SLOT_BUFFER, 2, 0},
                                                             {WYE_SLOT_LENGTH, 2, 0},
                                                             {WYE_SLOT_PARAMS, 0, 8},
                                                             {WYE_SLOT_TRAP, 0, 0}});
    CHECK(push.binding_count == 3);
    CHECK(push.params_size == 16);
    CHECK(push.uses_trap);
    CHECK(push.shared_bytes == 64);
    CHECK(has(push, "PushConstant"));
    CHECK(has(push, "OpDecorate %trap_record Binding 3"));
    TargetFacts exactly, less;
    exactly.max_push_bytes = 24;
    less.max_push_bytes = 23;
    CHECK(has(lowered(text, exactly), "PushConstant"));
    CHECK_FALSE(has(lowered(text, less), "PushConstant"));
    CHECK(has(lowered(text, less), "OpDecorate %slots Binding 4"));
    CHECK(has(lowered(text, less), "OpDecorate %slots NonWritable"));
}

TEST_CASE("a grid slot and an opaque zero have their places") {
    Options folded;
    folded.folded_grid = true;
    const Artifact artifact =
        lowered(main_of("r[i] = bitcast<u32>(x[i] + 0.0);"), folding(), folded);
    const wye_slot zero = artifact.slots.back();
    const wye_slot grid = artifact.slots[artifact.slots.size() - 2];
    CHECK(grid.kind == WYE_SLOT_GRID);
    CHECK(grid.offset == 32);  // two lengths and the parameters before it
    CHECK(zero.kind == WYE_SLOT_OPAQUE_ZERO);
    CHECK(zero.offset == 56);
    for (const wye_slot& slot : lowered(main_of("r[i] = a;"), folding()).slots)
        CHECK(slot.kind != WYE_SLOT_OPAQUE_ZERO);
}

TEST_CASE("loops say so when the driver ended them, unless literals bound them") {
    const auto traps = [](const std::string& statements, std::uint64_t rounds) {
        TargetFacts facts;
        facts.loop_rounds = rounds;
        const Artifact artifact = lowered(main_of(statements), facts);
        CHECK(has(artifact, "65536") == artifact.uses_trap);
        return artifact.uses_trap;
    };
    CHECK_FALSE(traps("for k in 0u..a { }", 0));
    CHECK(traps("for k in 0u..a { }", 1000));
    CHECK(traps("var n = a; while n > 0u { n -= 1u; if n == 7u { break; } }", 1000));
    CHECK_FALSE(traps("for k in 0u..30u { for j in 0..30 { } }", 1000));
    CHECK(traps("for k in 0u..40u { for j in 0..30 { } }", 1000));
    CHECK_FALSE(traps("for k in 5u..1000u step 2u { }", 1000));
    CHECK_FALSE(traps("var v: f32x4[200];", 1000));
    CHECK(traps("for k in 0..3 { var v: f32x4[200]; }", 1000));
    CHECK_FALSE(traps("if a > 3u { r[0] = a; }", 10));
}

TEST_CASE("drivers that run vectors see no ones in choices, no deep values and no surplus lanes") {
    const auto with = [](const std::string& statements, const char* what, bool vectors) {
        TargetFacts facts;
        facts.quirks = wye::lower::QuirkSet::of_unknown_driver(vectors);
        return has(lowered(main_of(statements), facts), what);
    };
    const auto hides = [&](const std::string& statements) {
        CHECK_FALSE(with(statements, "OpShiftRightLogical", false));
        return with(statements, "OpShiftRightLogical", true);
    };
    CHECK(hides("r[0] = bitcast<u32>(select(a == 3u, 1.0, -0.0));"));
    CHECK(hides("var v = -1.0; if a == 3u { v = 0.0; } r[0] = bitcast<u32>(v);"));
    CHECK(hides("r[0] = select(a == 3u, 0x3f800000u, 0x80000000u);"));
    CHECK_FALSE(hides("r[0] = select(a == i, 1u, 0u);"));
    CHECK_FALSE(hides("r[0] = bitcast<u32>(select(a == i, 2.0, -0.0));"));

    std::string squares = "let b0 = a;";
    for (unsigned k = 0; k < 8; ++k)
        squares += "let b" + std::to_string(k + 1) + " = b" + std::to_string(k) + " * b" +
                   std::to_string(k) + ";";
    CHECK(hides(squares + "r[b8] = 2u;"));
    CHECK_FALSE(hides(squares + "r[b4] = 2u;"));
    CHECK(hides(squares + "for k in b8..9u { r[i] = i; }"));
    CHECK(hides("var v = a; v = v * v; r[i] = v + i;"));
    CHECK(hides("r[0] = a * a;"));  // a compiler may replace a load of r[0] by this value
    CHECK_FALSE(hides("var v = 0.0; for k in 0u..a { v = v + x[k] * x[i]; }"));
    CHECK_FALSE(hides("for k in 0u..a { r[k * a + i] = 2u; }"));

    // A row of 20 ends within a vector, one of 32 does not.
    const auto leaves = [](const char* size, bool vectors) {
        TargetFacts facts;
        facts.quirks.set(wye::lower::Quirk::LlvmpipeEndOfRow, vectors);
        return has(lowered(std::string("wye 1; program p; workgroup ") + size +
                               "; output r: u32[64]; main { r[local_index] = 1u; }",
                           facts),
                   "OpUGreaterThanEqual");
    };
    CHECK(leaves("20, 2", true));
    CHECK(leaves("1", true));
    CHECK_FALSE(leaves("32, 2", true));
    CHECK_FALSE(leaves("20", false));

    // The compiler must not know the result of a comparison of the lane's number with a literal.
    const auto hides_lane = [](bool vectors) {
        TargetFacts facts;
        facts.quirks.set(wye::lower::Quirk::LlvmpipeKnownLane, vectors);
        return has(lowered("wye 1; program p; workgroup 8; subgroup 8; output r: u32[1]; "
                           "main { if subgroup_lane < 1u { r[0] = 1u; } }",
                           facts),
                   "OpBitwiseOr");
    };
    CHECK(hides_lane(true));
    CHECK_FALSE(hides_lane(false));
}

TEST_CASE("a CPU gets its loops as they are, and none with a barrier is unrolled") {
    TargetFacts cpu;
    cpu.workgroup_loops = true;
    cpu.quirks = wye::lower::QuirkSet::of_unknown_driver(true);
    const auto count = [](const Artifact& artifact, std::string_view what) {
        const std::string text = support::spirv_text(artifact.code);
        std::size_t found = 0;
        for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++found;
        return found;
    };
    const std::string open = main_of("var t = 0.0; for k in 0u..a { t += x[k]; } r[i] = u32(t);");
    CHECK(count(lowered(open), "OpLoopMerge") == 2);  // groups of four, then single iterations
    CHECK(count(lowered(open, cpu), "OpLoopMerge") == 1);
    const std::string tree =
        main_of("s[i % 8u] = a; barrier; for k in 1u..4u { s[i % 8u] = k; barrier; }");
    CHECK(count(lowered(tree), "DontUnroll") == 0);
    CHECK(count(lowered(tree, cpu), "DontUnroll") == 1);
    CHECK(count(lowered(open, cpu), "DontUnroll") == 0);
}

TEST_CASE("64-bit integers are made of words unless the compiler is trusted with them") {
    const std::string wide = main_of(
        "let w = u64(a) * u64(r[0]); r[1] = u32(w / u64(r[2])); if w < u64(r[3]) { r[4] = 1u; } "
        "r[5] = u32(abs(i32(r[6])));");
    const Artifact words = lowered(wide);
    CHECK(has(words, "quotient64"));
    CHECK_FALSE(has(words, "OpUDiv %ulong"));
    TargetFacts facts;
    facts.quirks = wye::lower::QuirkSet::none();
    const Artifact plain = lowered(wide, facts);
    CHECK_FALSE(has(plain, "quotient64"));
    CHECK(has(plain, "OpUDiv %ulong"));
    const auto zeros = [](const Artifact& artifact) {
        return std::ranges::count_if(
            artifact.slots, [](const wye_slot& slot) { return slot.kind == WYE_SLOT_OPAQUE_ZERO; });
    };
    CHECK(zeros(words) == 1);
    CHECK(zeros(plain) == 0);
}

TEST_CASE("what literals give is computed here") {
    const Artifact sum = lowered(main_of("r[0] = u32(0.1 + 0.2); r[1] = bitcast<u32>(1.0 / 3.0);"));
    CHECK_FALSE(has(sum, "OpFAdd"));
    CHECK_FALSE(has(sum, "div32"));
    CHECK(has(sum, "0.300000012"));
    CHECK(has(sum, "0.333333343"));
    CHECK(has(lowered(main_of("r[0] = u32(0.1 + x[0]);")), "OpFAdd"));
}

TEST_CASE("what is not exact on a device is emulated") {
    const std::string divide = main_of("r[i] = bitcast<u32>(x[i] / x[a]);");
    CHECK(has(lowered(divide), "OpFunctionCall %float %div32"));
    CHECK_FALSE(has(lowered(divide), "Float64"));
    TargetFacts cpu = folding();
    cpu.workgroup_loops = true;
    CHECK(has(lowered(divide, cpu), "OpFDiv %double"));
    CHECK(has(lowered(divide, folding()), "OpFunctionCall %float %quotient_or_div32"));
    CHECK(has(lowered(divide, able()), "OpFDiv %float"));
    const std::string fused = main_of("r[i] = bitcast<u32>(fma(x[i], x[a], x[3]));");
    CHECK(has(lowered(fused), "%fma_f32"));
    CHECK(has(lowered(fused, able()), "Fma %"));
    CHECK(has(lowered(fused, bare()), "%fma32_in_integers"));
    CHECK_FALSE(has(lowered(fused, bare()), "Float64"));
}
