// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "program/analysis/analysis.hpp"
#include "text_helpers.hpp"

namespace test_analysis {

using namespace wye::ir;

namespace {

Program program(const std::string& text) {
    ParseResult result = parse(text);
    CHECK_MESSAGE(result.ok(), test::shown(result.diagnostics, text));
    const auto list = validate(result.program);
    CHECK_MESSAGE(list.empty(), test::shown(list, text));
    return std::move(result.program);
}

// A program of u32 and f32 only, so that needs come from the body.
std::string plain(const std::string& body, const std::string& heads = {},
                  const std::string& shape = "workgroup 64;") {
    return "wye 1; program t; " + shape +
           " param n: u32; param m: u32; param a: f32; input x: f32[]; input_output b: u32[];\n"
           "output r: u32[]; shared s: u32[64]; input_output f: f32[]; input_output l: u64[4];\n" +
           heads + "\nmain {\n" + body + "\n}\n";
}

std::string needs(const std::string& text) {
    std::vector<std::string> names;
    for (const Need& n : analyse(program(text)).needs)
        if (n.capability != "int64" || n.because.find("`l`") == std::string::npos)
            names.push_back(n.capability);
    std::sort(names.begin(), names.end());
    std::string out;
    for (const std::string& name : names) out += (out.empty() ? "" : " ") + name;
    return out;
}

// The doubts as text: "race `b`, atomic_order ..."; "" if the program is deterministic.
std::string doubts(const std::string& text) {
    std::string out;
    for (const Doubt& d : analyse(program(text)).doubts)
        out += (out.empty() ? "" : ", ") + d.reason + " " + d.what;
    return out;
}

}  // namespace

TEST_CASE("needs") {
    CHECK(needs(plain("b[0] = n;")) == "");
    CHECK(needs(plain("f[0] = x[0];")) == "");
    CHECK(needs(plain("f[0] = x[0] + a;")) == "ieee_f32");
    CHECK(needs(plain("b[0] = u32(a);")) == "ieee_f32");
    CHECK(needs(plain("f[0] = select(n == 1u, a, x[0]);")) == "");
    CHECK(needs(plain("let q = f64(n);")) == "f64 ieee_f64");
    CHECK(needs(plain("let q = exp(a);")) == "ieee_f32");
    CHECK(needs(plain("f[0] = rsqrt(a);")) == "ieee_f32");
    CHECK(needs("wye 1; program p; workgroup 1; output r: f32[1]; main { r[0] = rsqrt(2.0); }") ==
          "ieee_f32");
    CHECK(
        needs("wye 1; program p; workgroup 1; output r: f64[1]; main { r[0] = rsqrt(2.0f64); }") ==
        "f64 ieee_f64 int64");
    CHECK(needs("wye 1; program p; workgroup 1; output r: f32[1]; main { r[0] = exp(1.0); }") ==
          "ieee_f32");
    CHECK(needs(plain("atomic_add(l[0], 1u64);")) == "atomic_int64");
    CHECK(needs(plain("atomic_add(z[0], 1i64);", "shared z: i64[2];")) == "atomic_int64_shared");
    CHECK(needs(plain("atomic_add(f[0], 1.0);")) == "atomic_f32_add");
    CHECK(needs(plain("atomic_add(z[0], 1.0f64);", "persistent z: f64[];")) ==
          "atomic_f64_add f64");
    CHECK(needs(plain("let q = subgroup_lane;")) == "subgroup");
    CHECK(needs(plain("let q = subgroup_add(n);")) == "subgroup");
    CHECK(needs(plain("grid_barrier;")) == "");
    CHECK(needs(plain("", "input z: u8x2[];")) == "storage8");
    CHECK(needs(plain("", "input z: i16[];")) == "storage16");
    CHECK(needs(plain("", "input z: f16[];")) == "storage16");
    CHECK(needs(plain("", "input z: bf16[];")) == "storage16");
    CHECK(needs(plain("let q = 1.0f16;")) == "storage16");
    // Moving floats, and operations on their bits, need no arithmetic of floats.
    CHECK(needs(plain("f[0] = -abs(copysign(x[0], a)); b[0] = u32(isnan(a) || isinf(x[0]));")) ==
          "");
    CHECK(needs(plain("w[0] = select(n == 1u, -z[0], abs(z[1]));",
                      "input z: f64[]; output w: f64[2];")) == "f64");
    CHECK(needs(plain("z[0] = z[1];", "input_output z: bf16[];")) == "storage16");
    CHECK(needs(plain("z[0] = z[1] * 2.0;", "input_output z: bf16[];")) == "ieee_f32 storage16");
    for (const char* value : {"x[0] + a", "a < x[0]", "min(a, x[0])", "floor(a)", "f32(n)"})
        CHECK(needs(plain("let q = " + std::string(value) + ";")) == "ieee_f32");
    const auto because = [](const std::string& body, const std::string& head = {}) {
        for (const Need& n : analyse(program(plain(body, head))).needs)
            if (n.capability.starts_with("ieee_")) return n.because;
        return std::string();
    };
    CHECK(because("f[0] = x[0];\nf[1] = max(x[0], a);") == "`max` of f32 at 6:8");
    CHECK(because("b[0] = u32(a);") == "a conversion of f32 at 5:8");
    CHECK(because("let q = w[0] >= w[1];", "input w: f64[2];") == "`>=` of f64 at 5:14");
    const Analysis a = analyse(program(plain("let q = f64(n);\nlet z = len64(b);")));
    CHECK(a.needs[0].capability == "int64");
    for (const Need& n : a.needs)
        if (n.capability == "f64") CHECK(n.because == "f64 at 5:5");
}

TEST_CASE("grid barriers split main into kernels") {
    const auto kernels = [](const std::string& body) {
        return analyse(program(plain(body))).kernels;
    };
    CHECK(kernels("b[0] = n;") == 1);
    CHECK(kernels("grid_barrier;") == 1);
    CHECK(kernels("b[0] = n; grid_barrier; b[1] = n;") == 2);
    CHECK(kernels("grid_barrier; b[0] = n; grid_barrier; grid_barrier; b[1] = n; grid_barrier; "
                  "b[2] = n;") == 3);
    CHECK(kernels("b[0] = n; for k in 0u..n { grid_barrier; b[1] = k; }") == 0);
}

TEST_CASE("races") {
    struct Row {
        const char* body;
        const char* doubts;
    };
    for (const Row& row : {
             Row{"r[global_id.x] = n;", ""},
             Row{"let i = global_id.x; if i < len(r) { r[i] = b[i] + 1u; b[i] = n; }", ""},
             Row{"let i = global_id.x; r[i * 4u] = 1u; r[i * 4u + 3u] = 2u; r[2u + 4u * i] = 3u;",
                 ""},
             Row{"let i = global_id.x; r[i * 4u + 4u] = 1u;", "race `r`"},
             Row{"let i = global_id.x; r[i * 4u] = 1u; r[i * 2u] = 1u;", "race `r`"},
             Row{"let i = global_id.x; r[i * n] = 1u;", "race `r`"},
             Row{"let i = global_id.x; b[i] = b[i + 1u];", "race `b`"},
             Row{"b[global_id.y] = 1u;", "race `b`"},
             Row{"b[0] = n;", "race `b`"},
             Row{"if global_id.x == 0u { b[0] = n; }", "race `b`"},  // no race, but not provable
             Row{"var i = global_id.x; b[i] = n;", "race `b`"},
             Row{"r[0] = b[3];", "race `r`"},
             Row{"let q = b[3] + b[global_id.x];", ""},
             Row{"atomic_add(b[n], 1u); atomic_add(b[3], 1u);", ""},
             Row{"atomic_add(b[n], 1u); let q = b[0];", "race `b`"},
             Row{"s[local_index] = n; barrier; let q = s[0];", ""},
             Row{"s[local_index] = n; let q = s[0];", "race `s`"},
             Row{"s[local_index] = n; if n == 1u { barrier; } let q = s[0];", "race `s`"},
             Row{"s[local_id.x] = n;", ""},
             Row{"s[local_index ^ 1u] = n;", "race `s`"},
             Row{"for i in 0u..n { s[local_index] = s[local_index] + 1u; }", ""},
             Row{"atomic_add(s[n], 1u); barrier; b[global_id.x] = s[local_index];", ""},
             Row{"b[global_id.x] = 1u; barrier; let q = b[0];", "race `b`"},
             Row{"b[global_id.x] = 1u; grid_barrier; let q = b[0];", ""},
             Row{"let i = u64(global_id.x); b[i] = n;", ""},
             Row{"let q = look(1u); b[global_id.x] = 1u;", "race `b`"},
         }) {
        CAPTURE(std::string(row.body));
        CHECK(doubts(plain(row.body, "fn look(i: u32) -> u32 { return b[i]; }")) == row.doubts);
    }
    const Doubt one = analyse(program(plain("s[local_index] = n;\nlet q = s[0];"))).doubts.at(0);
    CHECK(one.place.line == one.other.line + 1);  // the load may race with the store before it
    CHECK(one.other.column == 1);
    // A second axis that the index does not use: every row writes the same element.
    CHECK(doubts(plain("r[global_id.x] = n;", "", "workgroup 8, 8;")) == "race `r`");
    CHECK(doubts(plain("r[global_id.x] = n;", "grid elements n, m;")) == "race `r`");
}

TEST_CASE("rows of two axes") {
    const std::string shape = "workgroup 8, 8;";
    const std::string grid = "grid elements n, m;";
    CHECK(doubts(plain("let i = global_id.x; let j = global_id.y;\n"
                       "if i < n && j < m { r[j * n + i] = 1u; }",
                       grid, shape)) == "");
    CHECK(doubts(plain("if global_id.x < n { r[global_id.x + n * global_id.y] = 1u; }", grid,
                       shape)) == "");
    CHECK(doubts(plain("r[global_id.y * n + global_id.x] = 1u;", grid, shape)) == "race `r`");
    CHECK(doubts(plain("if global_id.x < m { r[global_id.y * n + global_id.x] = 1u; }", grid,
                       shape)) == "race `r`");
    CHECK(doubts(plain("if global_id.x < n { } else { r[global_id.y * n + global_id.x] = 1u; }",
                       grid, shape)) == "race `r`");
    const Analysis a = analyse(program(
        plain("if global_id.x < n { r[global_id.y * n + global_id.x] = 1u; }", grid, shape)));
    CHECK(a.assumes.axes == 2);
    REQUIRE(a.assumes.rows.size() == 1);
    CHECK(a.assumes.rows[0] == SizeExpr{{WYE_SIZE_PARAM, 0, 0}});
}

TEST_CASE("the conditions that a verdict puts on the launch") {
    const Analysis any = analyse(program(plain("atomic_add(b[0], 1u);")));
    CHECK(any.deterministic());
    CHECK(any.assumes.axes == 3);
    const Analysis one = analyse(program(plain("r[global_id.x * 4u + 1u] = n;")));
    CHECK(one.assumes.axes == 1);
    CHECK(one.assumes.x_invocations == 1U << 30U);
}

// What a user is told: "yes", "yes, if ...", or the doubts.
std::string verdict(const std::string& text) {
    const Analysis a = analyse(program(text));
    if (a.deterministic()) return "yes";
    if (a.deterministic_if()) return "yes, if " + a.condition;
    std::string out;
    for (const auto* list : {&a.doubts, &a.own_grid})
        for (const Doubt& d : *list) out += (out.empty() ? "" : ", ") + d.reason + " " + d.what;
    return out;
}

TEST_CASE("a literal grid decides the verdict, any other leaves a condition") {
    struct Row {
        const char* body;
        const char* grid;
        const char* shape;
        const char* verdict;
    };
    const char* const line = "workgroup 64;";
    const char* const plane = "workgroup 8, 8;";
    const char* const one = "r[global_id.x] = n;";
    const char* const wide = "r[global_id.x * 524288u + 5u] = n;";  // the index wraps from 8192 on
    const char* const rows = "if global_id.x < n { r[global_id.y * n + global_id.x] = 1u; }";
    const char* const by_length =
        "if global_id.x < len(x) { r[global_id.y * len(x) + global_id.x] = 1u; }";
    const char* const by_literal =
        "if global_id.x < 1048576u { r[global_id.y * 1048576u + global_id.x] = 1u; }";
    const char* const at_most = "yes, if the launch has at most 8192 invocations on the x axis";
    for (const Row& row : {
             Row{"atomic_add(b[0], n);", "", line, "yes"},
             Row{one, "grid elements len(x);", line, "yes"},
             Row{one, "", line, "yes, if the launch has one invocation on the y and z axes"},
             Row{wide, "grid elements 8192;", line, "yes"},
             Row{wide, "grid groups 128;", line, "yes"},
             Row{wide, "grid elements len(l);", line, "yes"},
             // 8193 elements are 129 workgroups.
             Row{wide, "grid elements 8193;", line,
                 "race `r`, whose indices repeat in the program's own grid"},
             Row{wide, "grid groups 129;", line,
                 "race `r`, whose indices repeat in the program's own grid"},
             Row{wide, "grid elements len(x);", line, at_most},
             Row{wide, "grid elements n;", line, at_most},
             Row{wide, "", line,
                 "yes, if the launch has one invocation on the y and z axes, and the launch has at "
                 "most 8192 invocations on the x axis"},
             Row{rows, "grid elements n, m;", plane,
                 "yes, if `n` times the invocations on the y axis is at most 4294967296"},
             Row{rows, "", plane,
                 "yes, if the launch has one invocation on the z axis, and `n` times the "
                 "invocations on the y axis is at most 4294967296"},
             Row{rows, "grid elements n, 1;", "workgroup 8;", "yes"},
             Row{by_length, "grid elements len(x), m;", plane,
                 "yes, if `len(x)` times the invocations on the y axis is at most 4294967296"},
             Row{by_literal, "grid elements 100, 4096;", plane, "yes"},
             Row{by_literal, "grid elements 100, 4097;", plane,
                 "race `r`, whose indices repeat in the program's own grid"},
             Row{by_literal, "grid elements 100, m;", plane,
                 "yes, if the launch has at most 4096 invocations on the y axis"},
             // A doubt that holds in every launch outweighs conditions.
             Row{"r[global_id.x] = n; b[0] = n;", "", line, "race `b`"},
         }) {
        CAPTURE(std::string(row.body));
        CAPTURE(std::string(row.grid));
        CHECK(verdict(plain(row.body, row.grid, row.shape)) == row.verdict);
    }
}

TEST_CASE("other doubts") {
    CHECK(doubts(plain("let q = atomic_add(b[0], 1u);")) ==
          "atomic_order the result of `atomic_add` on `b` is used");
    CHECK(doubts(plain("atomic_exchange(b[0], 1u);")) ==
          "atomic_order `atomic_exchange` on `b` keeps the last value");
    CHECK(doubts(plain("atomic_add(b[0], 1u); atomic_max(b[1], 1u);")) ==
          "atomic_order `atomic_add` and `atomic_max` on `b`");
    CHECK(doubts(plain("atomic_add(s[0], 1u); barrier; atomic_max(s[1], 1u);")) == "");
    CHECK(doubts(plain("atomic_add(f[0], 1.0);")) == "float_atomic `atomic_add` on `f`");
    CHECK(doubts(plain("while n == 1u { break; }")) == "may_not_terminate a `while` loop");
    CHECK(doubts(plain("let q = subgroup_add(n);")) ==
          "subgroup_width `subgroup_add` at 5:9 without `subgroup N`");
    CHECK(doubts(plain("let q = subgroup_add(n);", "", "workgroup 64; subgroup 32;")) == "");
    CHECK(doubts(plain("", "output z: u32[] unset;")) == "unset `z`");
    CHECK(doubts(plain("z[local_index] = 1u;", "shared z: u32[64] unset;")) == "");
}

TEST_CASE("static sizes") {
    const Analysis a =
        analyse(program(plain("var e: f16[4]; let q = g(n); if n == 1u { barrier; trap 1; }",
                              "shared z: f16x2[3]; param wide: i64;\n"
                              "fn h(v: u32) -> u32 { var e: u32[8]; return v; }\n"
                              "fn g(v: u32) -> u32 { var e: u32[2]; return h(v) + h(v); }")));
    CHECK(a.shared_bytes == 64 * 4 + 3 * 2 * 4);  // f16 counts as 4
    CHECK(a.local_array_bytes == 16 + 8 + 32);
    CHECK(a.params_bytes == 24);  // n, m, a, padding, wide
    CHECK(a.uses_barrier);
    CHECK(a.uses_trap);
    CHECK(!a.may_not_terminate);
}

TEST_CASE("zero fill of shared arrays") {
    const auto skips = [](const std::string& body, const std::string& shape = "workgroup 64;") {
        const Program p = program(plain(body, "", shape));
        for (std::size_t k = 0; k < p.buffers.size(); ++k)
            if (p.buffers[k].name == "s") return bool(zero_fill(p).shared_skippable[k]);
        return false;
    };
    CHECK(skips("s[local_index] = n; barrier; let q = s[0];"));
    CHECK(skips("let i = local_index; s[i] = n; barrier; let q = s[0];"));
    CHECK(skips("s[local_index] = n;", "workgroup 128;"));
    CHECK(!skips("s[local_index] = n;", "workgroup 32;"));
    CHECK(!skips("s[local_index] = n;", "workgroup 64 adjustable;"));
    CHECK(!skips("let q = s[0]; s[local_index] = n; barrier;"));
    CHECK(!skips("s[local_index] = n; let q = s[0]; barrier;"));
    CHECK(!skips("if n == 1u { s[local_index] = n; } barrier;"));
    CHECK(!skips("if n == 1u { return; } s[local_index] = n; barrier;"));
    CHECK(!skips("barrier; s[local_index] = n; barrier;"));
    CHECK(!skips("if n == 1u { barrier; } s[local_index] = n; barrier;"));
    CHECK(!skips("s[global_id.x] = n; barrier;"));
    CHECK(!skips("atomic_add(s[0], 1u); s[local_index] = n; barrier;"));
}

TEST_CASE("zero fill of outputs") {
    const auto guards = [](const std::string& body) {
        const Program p = program(plain(body, "fn look(i: u32) -> u32 { return r[i]; }"));
        return zero_fill(p).outputs;
    };
    const auto candidate = [](const std::string& body) {
        const Program p = program(plain(body));
        const ZeroFill fill = zero_fill(p);
        for (std::size_t k = 0; k < p.buffers.size(); ++k)
            if (p.buffers[k].name == "r") return bool(fill.outputs[k].candidate);
        return false;
    };
    CHECK(candidate("r[global_id.x] = n;"));
    CHECK(candidate("let i = global_id.x; if i < len(r) { r[i] = n; }"));
    CHECK(candidate(
        "let i = global_id.x; if i < len(b) && len(r) > i { if i < len(x) { r[i] = n; } }"));
    CHECK(candidate("let i = global_id.x; if i < n { r[i] = n; }"));
    CHECK(candidate("r[global_id.y] = n;"));
    CHECK(candidate(
        "let cx = global_id.x; let cy = global_id.y; if cx < n && cy < 7u { r[cy * n + cx] "
        "= n; }"));
    CHECK(
        candidate("let cx = workgroup_id.y * workgroup_size.x + local_id.x; let cy = local_id.y + "
                  "16u * workgroup_id.x; r[cx + n * cy] = n;"));
    CHECK(candidate("for k in 0u..8u { r[global_id.x * 8u + k] = n; }"));
    CHECK(candidate(
        "let i = global_id.x; if i < len(r) / 4u { for k in 0u..4u { r[k + 4u * i] = n; } }"));
    CHECK(!candidate("for k in 1u..8u { r[global_id.x * 8u + k] = n; }"));
    CHECK(!candidate("for k in 0u..8u step 2u { r[global_id.x * 8u + k] = n; }"));
    CHECK(!candidate("for k in 0u..n { r[global_id.x * 8u + k] = n; }"));
    CHECK(!candidate("for k in 0u..0u { r[global_id.x] = n; }"));
    CHECK(!candidate("for k in 0u..8u { if k == n { break; } r[global_id.x * 8u + k] = n; }"));
    CHECK(!candidate("for k in 0u..8u { if k < n { r[global_id.x * 8u + k] = n; } }"));
    CHECK(!candidate("for k in 0u..8u { for j in 0u..8u { r[global_id.x * 8u + k] = n; } }"));
    CHECK(!candidate("for k in 0u..8u { r[global_id.x * 8u + global_id.y] = n; }"));
    CHECK(!candidate("for k in 0u..8u { r[global_id.x] = n; }"));
    CHECK(!candidate("let i = global_id.x; if i < n / 0u { r[i] = n; }"));
    CHECK(!candidate("let cx = global_id.x; r[cx * n + cx] = n;"));
    CHECK(!candidate("let cx = workgroup_id.y * 16u + local_id.x; r[global_id.y * n + cx] = n;"));
    CHECK(!candidate("let cx = workgroup_id.y * 16u + local_id.x; r[local_id.x * n + cx] = n;"));
    CHECK(!candidate("let cx = global_id.x; if global_id.z < n { r[global_id.y * n + cx] = n; }"));
    CHECK(!candidate("let cx = global_id.x; if cx * 2u < n { r[cx] = n; }"));
    CHECK(!candidate("let cx = global_id.x; if n < cx { r[cx] = n; }"));
    CHECK(!candidate("let cx = global_id.x; r[global_id.y * cx + cx] = n;"));
    CHECK(!candidate("let cx = workgroup_id.x * workgroup_size.y + local_id.x; r[cx] = n;"));
    CHECK(!candidate("let i = global_id.x; if i < len(r) { } else { r[i] = n; }"));
    CHECK(!candidate("let i = global_id.x; if i < len(r) || n == 1u { r[i] = n; }"));
    CHECK(!candidate("let i = global_id.x; for k in 0u..n { r[i] = n; }"));
    CHECK(!candidate("let i = global_id.x; r[i] = n; r[i] = n;"));
    CHECK(!candidate("let i = global_id.x; let q = r[i]; r[i] = n;"));
    CHECK(!candidate("let i = global_id.x; if n == 1u { return; } r[i] = n;"));
    CHECK(!candidate("let i = global_id.x; if n == 1u { trap 1; } r[i] = n;"));
    CHECK(!candidate("r[local_index] = n;"));
    CHECK(!candidate("let i = i32(global_id.x); r[i] = n;"));  // does not store to r[2^31]
    for (const auto& o : guards("r[global_id.x] = n;")) CHECK(!o.candidate);  // a function reads r
    const Program p =
        program(plain("let i = global_id.x; if i < len(b) && i < len(x) { r[i] = n; }"));
    using Limit = ZeroFill::Limit;
    CHECK(zero_fill(p).outputs[2].column.below ==
          std::vector<Limit>{{Limit::From::Length, 1}, {Limit::From::Length, 0}});
}

}  // namespace test_analysis
