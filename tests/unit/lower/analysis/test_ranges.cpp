// SPDX-License-Identifier: Apache-2.0
//
// Tests which accesses need no check. The negative cases matter more: in each the index can be out
// of range.
#include <doctest/doctest.h>

#include "lower/analysis/ranges.hpp"
#include "programs.hpp"

namespace test_ranges {

namespace {

struct Case {
    const char* what;
    const char* body;  // of main in program_around()
    bool proven;       // whether every access is proven
};

// `x` and `y` have the same length, `z` has another length.
std::string program_around(const char* body) {
    return std::string(R"(wye 1; program ranges; workgroup 16, 4;
param n: u32; param m: i32;
input x: u32[]; input_output y: u32[len(x)]; input_output z: u32[]; input narrow: u8[];
input_output fixed: u32[64]; shared t: u32[64]; input_output w: u64[];
table k: u32[8] = { 1u, 2u, 3u, 4u, 5u, 6u, 7u, 5u };
fn low(v: u32) -> u32 { return v >> 26u; }
fn at(v: u32) -> u32 { return fixed[v]; }
fn half(v: u32) -> u32 { let h = v / 2u; return h; }
main { )") +
           body + " }";
}

const Case kCases[] = {
    {"guard", "let i = global_id.x; if i < len(x) { y[i] = x[i]; }", true},
    {"guard, other side", "let i = global_id.x; if len(x) > i { y[i] = x[i]; }", true},
    {"guard by return", "let i = global_id.x; if i >= len(y) { return; } y[i] = x[i];", true},
    {"guard without a name", "if global_id.x < len(x) { y[global_id.x] = 1u; }", true},
    {"guard among others",
     "let i = global_id.x; if n == 3u && (i < len(x) && m > 0) { y[i] = 1u; }", true},
    {"guard through another", "let i = global_id.x; if i < n && n <= len(x) { y[i] = 1u; }", true},
    {"else of the opposite",
     "let i = global_id.x; if i >= len(x) || n == 0u { } else { y[i] = 1u; }", true},
    {"64 bits", "let i = u64(global_id.x); if i < len64(w) { w[i] = 1u64; }", true},
    {"64 bits by the 32-bit length", "let i = global_id.x; if i < len(w) { w[u64(i)] = 1u64; }",
     true},
    {"signed, both ends", "let i = m; if i >= 0 && i < 64 { fixed[i] = 1u; }", true},
    {"loop bound", "for i in 0u..len(x) { y[i] = x[i]; }", true},
    {"loop with a step", "for i in global_id.x..len(x) step n { y[i] = x[i]; }", true},
    {"loop below a minimum", "for i in 0u..min(n, len(x)) { y[i] = 1u; }", true},
    {"literal loop", "for i in 0u..16u step 4u { t[i * 4u + 3u] = 1u; t[i + 51u] = 0u; }", true},
    {"mask", "fixed[n & 63u] = 1u;", true},
    {"remainder", "fixed[n % 64u] = 1u; t[n % 64u] = k[n % 8u];", true},
    {"remainder by a length that is not zero", "if len(x) != 0u { y[n % len(x)] = 1u; }", true},
    {"narrow load", "for i in 0u..len(narrow) { fixed[narrow[i] / 4u] = 1u; }", true},
    {"local ids", "t[local_index] = 1u; t[local_id.y * 16u + local_id.x] = 2u;", true},
    {"tree",
     "for s in 1u..6u { let h = 64u >> s; if local_index < h { t[local_index + h] = 1u; } }", true},
    {"below a guarded one",
     "let i = global_id.x; if i < len(x) { y[i / 2u] = 1u; y[i >> 1u] = 2u; "
     "y[min(i, n)] = x[i & n]; }",
     true},
    {"the one before", "let i = global_id.x; if i < len(x) && i > 0u { y[i - 1u] = x[i - 1u]; }",
     true},
    {"select of two", "let i = global_id.x; if i < len(x) { y[select(n > 2u, i, i / 3u)] = 1u; }",
     true},
    {"variable", "var i = 5u; fixed[i] = 1u; i = n & 7u; fixed[i] = 2u; fixed[k[i]] = 1u;", true},
    {"variable in a while", "var i = 0u; while i < len(x) { y[i] = x[i]; i = i + 1u; }", true},
    {"function's interval", "fixed[low(n)] = 1u;", true},
    {"function's argument", "let v = at(n & 31u);", true},
    {"conversion", "fixed[i32(n & 63u)] = 1u; fixed[u64(n % 64u)] = 2u;", true},
    {"local array", "var a: f32[10]; a[3u] = 1.0; a[n % 10u] = a[local_id.y];", true},
    {"clamp", "fixed[clamp(n, 3u, 63u)] = 1u;", true},

    {"no guard", "y[global_id.x] = 1u;", false},
    {"the other length", "let i = global_id.x; if i < len(z) { y[i] = 1u; }", false},
    {"after the guard", "let i = global_id.x; if i < len(x) { } y[i] = 1u;", false},
    {"the wrong branch", "let i = global_id.x; if i < len(x) { } else { y[i] = 1u; }", false},
    {"or", "let i = global_id.x; if i < len(x) || n == 3u { y[i] = 1u; }", false},
    {"at most", "let i = global_id.x; if i <= len(x) { y[i] = 1u; }", false},
    {"in the condition itself", "let i = global_id.x; if i < len(x) && x[i] > 3u { n; }", false},
    {"one more", "let i = global_id.x; if i < len(x) { y[i + 1u] = 1u; }", false},
    {"one less, not known to exist", "let i = global_id.x; if i < len(x) { y[i - 1u] = 1u; }",
     false},
    {"signed, one end", "if m < 64 { fixed[m] = 1u; }", false},
    {"remainder by a length", "y[n % len(x)] = 1u;", false},
    {"signed remainder", "fixed[m % 64] = 1u;", false},
    {"variable changed", "var i = n; if i < len(x) { i = i + 1u; y[i] = 1u; }", false},
    {"variable changed in a branch", "var i = 5u; if n == 1u { i = n * 3u; } fixed[i] = 1u;",
     false},
    {"variable changed by the loop", "var i = 5u; for j in 0u..n { fixed[i] = 1u; i = i + 1u; }",
     false},
    {"variable after the loop", "var i = 0u; while i < len(x) { i = i + 1u; } y[i] = 1u;", false},
    {"variable changed later in the round",
     "var i = 0u; while n > 2u { if i < len(x) { i = n; y[i] = 1u; } i = 0u; }", false},
    {"loop one too far", "for i in 0u..65u { t[i] = 1u; }", false},
    {"step past the end", "for i in 0u..62u step 4u { t[i + 4u] = 1u; }", false},
    {"shift that wraps", "let i = n << 1u; if n < 64u { fixed[i] = 1u; }", false},
    {"wrapping sum", "let i = n + 4294967295u; if n <= 64u { fixed[i] = 1u; }", false},
    {"function without bound", "let v = at(n); let u = at(3u);", false},
    {"half of anything", "fixed[half(n)] = 1u;", false},
    {"narrowing", "fixed[u32(w[0u64] & 63u64 | 64u64)] = 1u; ", false},
    {"negative to unsigned", "if m < 3 { fixed[u32(m)] = 1u; }", false},
    {"not by another's guard",
     "let i = global_id.x; let j = global_id.y; if i < len(x) { y[j] = 1u; }", false},
    {"table too long", "let v = k[n & 15u];", false},
};

bool all_accesses_proven(const wye::ir::Program& program) {
    const wye::lower::Ranges ranges(program, program.workgroup);
    const auto code_proven = [](const wye::ir::Code& code, const wye::lower::CodeRanges& r) {
        bool all = true;
        for (std::size_t e = 0; e < code.exprs.size(); ++e) {
            const auto op = code.exprs[e].op;
            if (op == wye::ir::Op::LOAD || op == wye::ir::Op::LOAD_TABLE ||
                op == wye::ir::Op::LOAD_ARRAY)
                all = all && r.accesses[e];
        }
        for (std::size_t s = 0; s < code.stmts.size(); ++s)
            if (code.stmts[s].op == wye::ir::Op::STORE ||
                code.stmts[s].op == wye::ir::Op::STORE_ARRAY)
                all = all && r.stores[s];
        return all;
    };
    bool all = code_proven(program.main, ranges.of(wye::ir::kNone));
    for (std::uint32_t f = 0; f < program.functions.size(); ++f) {
        const bool called = [&] {
            for (const auto& e : program.main.exprs)
                if (e.op == wye::ir::Op::CALL && e.imm == f) return true;
            return false;
        }();
        if (called) all = all && code_proven(program.functions[f].code, ranges.of(f));
    }
    return all;
}

}  // namespace

TEST_CASE("accesses that are proven, and those that must not be") {
    for (const Case& c : kCases) {
        std::string body = c.body;
        // `{ n; }` is no valid block. The rows of kCases use it in place of any valid block.
        if (const auto at = body.find("{ n; }"); at != std::string::npos)
            body.replace(at, 6, "{ z[0u] = 1u; }");
        const auto program = valid_program(program_around(body.c_str()));
        CHECK_MESSAGE(all_accesses_proven(program) == c.proven, c.what);
    }
}

TEST_CASE("the workgroup override decides, not the program's size") {
    auto program = valid_program(program_around("t[local_index] = 1u;"));
    program.workgroup = {64, 1, 1};
    CHECK(all_accesses_proven(program));
    program.workgroup = {65, 1, 1};
    CHECK_FALSE(all_accesses_proven(program));
}

TEST_CASE("loops that cannot overflow when stepped") {
    const auto plain = [](const char* body) {
        const auto program = valid_program(program_around(body));
        const wye::lower::Ranges ranges(program, program.workgroup);
        for (std::size_t s = 0; s < program.main.stmts.size(); ++s)
            if (program.main.stmts[s].op == wye::ir::Op::FOR)
                return static_cast<bool>(ranges.of(wye::ir::kNone).plain_loops[s]);
        throw std::runtime_error("no loop");
    };
    CHECK(plain("for i in 0u..n { }"));
    CHECK(plain("for i in n..4294967295u { }"));
    CHECK(plain("for i in 0..m { }"));
    CHECK(plain("for i in 0u64..len64(w) { }"));
    CHECK(plain("for i in 0u..4294967280u step 16u { }"));
    CHECK(plain("for i in 0u..1000u step n % 64u { }"));
    CHECK_FALSE(plain("for i in 0u..4294967281u step 16u { }"));
    CHECK_FALSE(plain("for i in 0u..n step 2u { }"));
    CHECK_FALSE(plain("for i in 0u..100u step n { }"));
    CHECK_FALSE(plain("for i in 0..m step 2 { }"));
    CHECK_FALSE(plain("for i in 0u64..len64(w) step 2u64 { }"));
}

TEST_CASE("the analysis stays quick on programs made to be slow") {
    // Components of vectors of components: each must be visited once, not twice for each level.
    std::string deep = "n";
    for (int i = 0; i < 40; ++i) deep = "u32x2(" + deep + ", 1u).x";
    const auto nested = valid_program(program_around(("fixed[" + deep + " & 63u] = 1u;").c_str()));
    CHECK(all_accesses_proven(nested));
    // Thousands of facts about one value, and a chain of names.
    std::string body = "var a = n; ";
    for (int i = 0; i < 3000; ++i)
        body += "if a < " + std::to_string(5000 - i) + "u { return; } let c" + std::to_string(i) +
                " = " +
                (i == 0 ? "n" : "c" + std::to_string(i - 1) + " + c" + std::to_string(i - 1)) +
                "; ";
    const auto long_chain = valid_program(program_around((body + "y[c2999] = 1u;").c_str()));
    CHECK_FALSE(all_accesses_proven(long_chain));
}

}  // namespace test_ranges
