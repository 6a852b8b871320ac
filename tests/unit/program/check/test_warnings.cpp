// SPDX-License-Identifier: Apache-2.0
//
// Each warning, and similar programs that have no warning.
#include <doctest/doctest.h>

#include "program/check/warnings.hpp"
#include "text_helpers.hpp"

namespace test_warnings {

using namespace wye::ir;

namespace {

// The warnings about a body, in a program that uses all its declarations.
std::vector<Diagnostic> about(const std::string& body, const std::string& heads = {}) {
    const std::string text =
        "wye 1; program t; workgroup 64;\n"
        "param n: u32; input_output b: u32[]; shared s: u32[64];\n" +
        heads + "main {\nb[n] = s[0];\n" + body + "\n}\n";
    ParseResult result = parse(text);
    CAPTURE(test::shown(result.diagnostics, text));
    REQUIRE(result.ok());
    const auto problems = validate(result.program);
    CAPTURE(test::shown(problems, text));
    REQUIRE(problems.empty());
    return warnings(result.program);
}

}  // namespace

TEST_CASE("probable mistakes get a warning") {
    struct Row {
        const char* body;
        std::uint32_t column;  // 0: no warning
        const char* message = "";
        const char* fix = "";
        const char* heads = "";
    };
    for (const Row& row : {
             // Loops without iterations.
             Row{"for i in 5..5 { b[i] = 1u; }", 1,
                 "this `for` has no iterations: its first value is 5, its end 5",
                 "Fix: give it an end above the first value"},
             Row{"for i in 9..0 { b[i] = 1u; }", 1,
                 "this `for` has no iterations: its first value is 9, its end 0",
                 "Fix: count up, and compute the falling number from it"},
             Row{"let k = 2u; for i in k + 1u..3u { b[i] = 1u; }", 13,
                 "this `for` has no iterations", ""},
             Row{"for i in 0u..n { b[i] = 1u; }", 0},
             Row{"for i in 0..1 { b[i] = 1u; }", 0},
             // Indices.
             Row{"s[64] = 1u;", 3,
                 "this index of `s` is 64, but `s` has 64 elements, so that it stores nothing",
                 "Fix: use an index below 64"},
             Row{"b[0] = s[local_index + 64u];", 22,
                 "this index of `s` is at least 64, but `s` has 64 elements, so that it reads zero",
                 "Fix: use an index below 64"},
             Row{"b[-1] = 1u;", 3,
                 "this index of `b` is always negative, so that it stores nothing",
                 "Fix: use an index from 0 up"},
             Row{"var q: u32[2]; q[2] = n; b[0] = q[0];", 18, "this index of `q` is 2", "below 2"},
             Row{"b[0] = t[3];", 10, "this index of `t` is 3", "below 2",
                 "table t: u32[2] = { 1u, 2u };\n"},
             Row{"for i in 4..8 { s[i + 60] = 1u; }", 21, "this index of `s` is at least 64", ""},
             Row{"b[0] = s[local_index + 1u];", 0},
             Row{"for i in 0..64 { s[i] = 1u; }", 0},
             Row{"b[0] = s[local_index - 64u];", 0},  // wraps around
             Row{"b[0] = s[i32(n) - 1];", 0},
             // Shifts.
             Row{"b[0] = n << 32u;", 13,
                 "a shift of u32 by 32 shifts by 0: only the lowest 5 bits count",
                 "Fix: shift by less than 32"},
             Row{"b[0] = u32(i64(n) >> 64u);", 22, "a shift of i64 by 64 shifts by 0", "64"},
             Row{"b[0] = n << 31u;", 0},
             Row{"b[0] = n << s[1];", 0},
             // Divisions.
             Row{"b[0] = n / 0u;", 12, "a division by zero gives the dividend",
                 "Fix: divide by another number"},
             Row{"b[0] = n % 0u;", 12, "a remainder of a division by zero is 0", "Fix: "},
             Row{"let q = f32(n) / 0.0; b[0] = u32(q);", 0},
             // Names.
             Row{"let q = n;", 5, "`q` is never used", "Fix: remove it, or name it `_q`"},
             Row{"var q = n; q = 2u;", 5, "`q` is assigned, but never read", "`_q`"},
             Row{"let _q = n;", 0},
             Row{"for i in 0..4 { b[0] = n; }", 0},
             Row{"var q: u32[4]; b[0] = len(q);", 0},
             // Loops that wait for other invocations.
             Row{"while b[0] == 0u { }", 1,
                 "this `while` waits for another invocation to write `b`, which may not run before "
                 "this one ends",
                 "Fix: wait with `barrier` or `grid_barrier`, or give the loop a limit"},
             Row{"while true { let v = atomic_load(b[0]); if v == 1u { break; } }", 1,
                 "waits for another invocation to write `b`", ""},
             Row{"var v = 1u; while v != 0u { v = atomic_cas(b[0], 0u, 1u); }", 13,
                 "waits for another invocation to write `b`", ""},
             Row{"var k = 0u; while b[0] == 0u && k < 9u { k += 1u; }", 0},
             Row{"while b[n] > 1u { b[n] = b[n] / 2u; }", 0},
             Row{"var k = atomic_add(b[0], 1u); while k < n { k = atomic_add(b[0], 1u); }", 0},
             Row{"while true { let old = atomic_load(b[0]); let got = atomic_cas(b[0], old, old * "
                 "3u); if got == old { break; } }",
                 0},
             Row{"while b[0] == 0u { for i in 0..9 { } return; }", 0},
         }) {
        CAPTURE(std::string(row.body));
        const std::vector<Diagnostic> list = about(row.body, row.heads);
        std::string all;
        for (const Diagnostic& d : list) all += d.message + "\n";
        CAPTURE(all);
        REQUIRE(list.size() == (row.column == 0 ? 0 : 1));
        if (list.empty()) continue;
        CHECK(list[0].severity == Diagnostic::Severity::Warning);
        CHECK(list[0].place.column == row.column);
        CHECK(list[0].message.find(row.message) != std::string::npos);
        CHECK(list[0].fix.starts_with("Fix: "));
        CHECK(list[0].fix.find(row.fix) != std::string::npos);
    }
}

TEST_CASE("unused declarations of the head") {
    const auto first = [](const std::string& heads) {
        const auto list = about("", heads);
        return list.empty() ? std::string() : list[0].message;
    };
    CHECK(first("param q: u32;") == "the parameter `q` is never used");
    CHECK(first("input q: u32[];") == "the buffer `q` is never used");
    CHECK(first("table q: u32[1] = { 1u };") == "the table `q` is never used");
    CHECK(first("fn q() -> u32 { return 1u; }") == "the function `q` is never used");
    CHECK(first("fn _f(q: u32) -> u32 { return 1u; }") == "`q` is never used");
    CHECK(first("param _q: u32; input _x: u32[];").empty());
    CHECK(first("input q: u32[]; grid elements len(q);").empty());
    CHECK(first("param q: u32; output _r: u32[q];").empty());
    // The code of a variant may use what main does not.
    CHECK(first("param q: u32; variant \"a\" entry \"b\" text \"\"\"x\"\"\";").empty());
}

TEST_CASE("a program without a text says where in words") {
    ParseResult result = parse(
        "wye 1; program p; workgroup 1; output r: u32[1]; param q: u32;\n"
        "main { r[0] = 1u / 0u; }");
    REQUIRE(result.ok());
    REQUIRE(validate(result.program).empty());
    for (Expr& e : result.program.main.exprs) e.place = {};
    for (Stmt& s : result.program.main.stmts) s.place = {};
    result.program.params[0].place = {};
    const auto list = warnings(result.program);
    REQUIRE(list.size() == 2);
    CHECK(list[0].where == "`q`");
    CHECK(list[1].where == "main, statement 1");
}

}  // namespace test_warnings
