// SPDX-License-Identifier: Apache-2.0
//
// Each rule of the validator, with accepted and refused programs.
#include <doctest/doctest.h>

#include "program/wire/encode.hpp"
#include "text_helpers.hpp"
#include "wye/sdk/wire.hpp"

namespace test_rules {

using namespace wye::ir;

namespace {

struct Row {
    const char* text;
    std::uint32_t column;  // of the error, on the first line of the body; 0: valid
    const char* message = "";
};

void check(const std::string& text, const Row& row, std::uint32_t line) {
    const auto list = test::problems(text);
    CAPTURE(std::string(row.text));
    CAPTURE(test::shown(list, text));
    if (row.column == 0) {
        CHECK(list.empty());
        return;
    }
    REQUIRE(list.size() == 1);
    CHECK(list[0].place == Place{line, row.column});
    CHECK(list[0].message.find(row.message) != std::string::npos);
    CHECK(list[0].fix.rfind("Fix: ", 0) == 0);
}

std::string head(const std::string& line) {
    return "wye 1; program t; workgroup 64; param n: u32; param a: f32; input x: u32[];\n" + line +
           "\nmain { }\n";
}

}  // namespace

TEST_CASE("types of statements and expressions") {
    for (const Row& row : {
             Row{"let q = n + 1u;", 0},
             Row{"let q = n + 1;", 11, "`+`"},
             Row{"let q = a * 2;", 11, "f32 and i32"},
             Row{"if n { }", 4, "is bool, got u32"},
             Row{"while a { }", 7, "is bool, got f32"},
             Row{"b[true] = 1u;", 3, "index of `b`"},
             Row{"b[0] = 1;", 8, "u32"},
             Row{"var q = 1; q = 2u;", 16, "i32"},
             Row{"var q = k[0]; q.x = n;", 21, "f32"},
             Row{"var q = 1; q.x = 1;", 12, "no component"},
             Row{"for i in 0..n { }", 13, "i32"},
             Row{"for i in 0.0..1 { }", 10, "integer"},
             Row{"let q = bool(n);", 9, "bool"},
             Row{"let q = u8(n);", 9, "u8"},
             Row{"let q = a % a;", 11, "`%`"},
             Row{"let q = exp(h[0]);", 9, "`exp`"},
             Row{"let q = f32x4(1.0) * a;", 20, "`*`"},
             Row{"let q = select(n, 1, 2);", 9, "`select`"},
             Row{"let q = bitcast<f64>(n);", 9, "bitcast"},
             Row{"var q: bool[4];", 1, "array"},
             Row{"let q = atomic_store(b[0], 1u);", 9, "atomic_store"},
             Row{"let q = atomic_add(b[0], 1);", 9, "u32"},
             Row{"atomic_add(s[0], 1u);", 0},
             Row{"atomic_min(h[0], 1.0f16);", 1, "f16"},
             Row{"let q = subgroup_add(k[0]);", 9, "scalar"},
         })
        check(test::around(row.text), row, test::kBodyLine);
}

TEST_CASE("a remedy for a wrong type changes the literal, or loses no data unsaid") {
    for (const auto& [body, fix] : std::initializer_list<std::pair<const char*, const char*>>{
             {"let q = 2 * x[n];", "write `2.0`"},
             {"let q = x[n] / 2;", "write `2.0`"},
             {"let q = n + 1;", "write `1u`"},
             {"let q = m - 1u;", "write `1i64`"},
             {"let q = d * 0.1;", "write `0.1f64`"},
             {"let q = pow(a, 2);", "write `2.0`"},
             {"let q = n << 3;", "write `3u`"},
             {"let q = n * 2.0;",
              "write `2u`, or, for a float result, convert the u32 value, as in `f32(x)`"},
             {"let q = n * 1.5;", "convert the u32 value, as in `f32(x)`"},
             {"let q = x[n] + n;", "convert the u32 value, as in `f32(x)`"},
             {"let q = n + x[n];", "convert the u32 value, as in `f32(x)`"},
             {"let q = d + a;", "convert the f32 value, as in `f64(x)`"},
             {"let q = m * a;", "convert the values to f64, as in `f64(x)`"},
             {"let q = n + i32(n);",
              "convert one operand: `u32(x)` keeps values of at least 0, `i32(x)` keeps values "
              "below 2^31"},
             {"let q = k[0] * 2;", "build a vector from the scalar first, as in `f32x4(2.0)`"},
             {"let q = k[0] * n;", "build a vector from the scalar first, as in `f32x4(f32(x))`"},
             {"let q = n > 1u && n;", "compare the u32 value first, as in `x != 0u`"},
             {"if n { }", "write a condition such as `x != 0u`"},
             {"let q = a % 2.0;", "write `x - trunc(x / y) * y`"},
             {"let q = -n;", "write `0u - x`"},
             {"b[0] = 1;", "write `1u`"},
             {"b[0] = a;", "convert the value, as in `u32(...)`, which drops the fraction"},
             {"b[0] = u32(m) + 1u; b[1] = i32(n);",
              "convert the value, as in `u32(...)`, if it is not negative"},
             {"var q: f32 = 3;", "write `3.0`"},
             {"for i in 0..n { }", "write `0u`"},
             {"let q = f32x2(1, 2);", "write `1.0`"},
             {"let q = atomic_add(b[0], 1);", "write `1u`"},
             {"let q = select(1.0, 2.0, n > 1u);",
              "write `select(condition, if_true, if_false)`, the reverse of WGSL's order"},
         }) {
        const std::string text = body;
        CAPTURE(text);
        const auto list = test::problems(test::around(text));
        REQUIRE(list.size() == 1);
        CHECK(list[0].fix == std::string("Fix: ") + fix);
    }
}

TEST_CASE("where statements may stand and what they may change") {
    for (const Row& row : {
             Row{"x[0] = 1.0;", 1, "`x` is `input`, which is only read"},
             Row{"k[0] = f32x4(a);", 1, "`k` is `uniform`"},
             Row{"atomic_add(x[0], 1.0);", 1, "needs a writable buffer, but `x` is `input`"},
             Row{"let q = 1; q = 2;", 12, "`q` is a `let` (declared at 7:5)"},
             Row{"for i in 0..4 { i = 2; }", 17, "loop variable"},
             Row{"break;", 1, "outside of a loop"},
             Row{"continue;", 1, "outside of a loop"},
             Row{"while n == 1u { break; }", 0},
             Row{"while n == 1u { break; barrier; }", 24, "nothing may follow `break`"},
             Row{"return; barrier;", 9, "nothing may follow `return`"},
             Row{"trap 1; let q = 1;", 9, "nothing may follow `trap`"},
             Row{"if n == 1u { return; } else { trap 1; } let q = 1;", 41,
                 "both of whose blocks leave"},
             Row{"if n == 1u { return; } else { let z = 1; } let q = 1;", 0},
             Row{"if n == 1u { return; } let q = 1;", 0},
             Row{"let q = workgroup_uniform_load(b[0]);", 9, "reads `shared` arrays"},
             Row{"let q = workgroup_uniform_load(s[0]);", 0},
             Row{"var q: u32[4096]; var z: u32[1];", 19, "16388 bytes together"},
             Row{"var q: u32[4096];", 0},
             Row{"var q: f16[4097];", 1, "16388"},
         })
        check(test::around(row.text), row, test::kBodyLine);
}

TEST_CASE("functions are pure and end") {
    const auto in = [](const std::string& body) {
        return test::around("", "fn f(v: u32) -> u32 { " + body + " return v; }");
    };
    for (const Row& row : {
             Row{"var q: u32[2]; for i in 0..4 { if v == 1u { break; } q[i] = b[i]; }", 0},
             Row{"b[0] = 1u;", 23, "stores to `b`"},
             Row{"let q = atomic_add(b[0], 1u);", 31, "functions are pure"},
             Row{"while v == 1u { }", 23, "`while`"},
             Row{"barrier;", 23, "`barrier`"},
             Row{"trap 1;", 23, "traps"},
             Row{"v = 1u;", 23, "`v` is an argument"},
         })
        check(in(row.text), row, 5);
}

TEST_CASE("the head's rules") {
    for (const Row& row : {
             Row{"param p: f16;", 7, "scalars"},
             Row{"param p: u32x2;", 7, "scalars"},
             Row{"param p: bool;", 7, "scalars"},
             Row{"input y: bool[];", 7, "bool"},
             Row{"shared y: u8[4];", 8, "bound buffers only"},
             Row{"shared y: u32[];", 8, "literal"},
             Row{"shared y: u32[n];", 8, "literal"},
             Row{"uniform y: u32[];", 9, "literal"},
             Row{"uniform y: u32[16385];", 9, "65536 bytes"},
             Row{"uniform y: u32[16384];", 0},
             Row{"shared y: u32[262145];", 8, "1048576"},
             Row{"shared y: u32[262144];", 0},
             Row{"shared y: f16[262145];", 8, "1048576"},
             Row{"input y: u32[0];", 7, "count of `y` is 0"},
             Row{"input y: u32[1099511627777];", 7, "2^40"},
             Row{"input y: u32[1099511627776];", 0},
             Row{"output y: u32[] live;", 8, "`live` has no meaning"},
             Row{"persistent y: u32[] live;", 0},
             Row{"input y: u32[] unset;", 7, "`unset` has no meaning"},
             Row{"shared y: u32[4] align 4;", 8, "`align` has no meaning"},
             Row{"input y: u32[] align 12;", 7, "power of two"},
             Row{"shared y: u32[4] coalesce x;", 8, "`coalesce` has no meaning"},
             Row{"shared y: u32[4] prefer_align 4;", 8, "`prefer_align` has no meaning"},
             Row{"shared y: u32[4] locality temporal;", 8, "`locality` has no meaning"},
             Row{"input y: u32[] coalesce x;", 0},
             Row{"input y: u32[] coalesce z;", 7, "one invocation along it"},
             Row{"input y: u32[] prefer_align 48;", 7, "is 48, not a power of two"},
             Row{"input y: u32[] prefer_align 2097152;", 7, "the limit is 1048576"},
             Row{"input y: u32[] prefer_align 1048576;", 0},
             Row{"input y: u32[] align 64 prefer_align 64;", 7, "`align` demands 64 already"},
             Row{"input y: u32[] bytes 0..4;", 7, "not read back"},
             Row{"input y: u32[] live bytes 0..4;", 0},
             Row{"output y: u32[] bytes 8..4;", 8, "ends before it begins"},
             Row{"output y: u32[4] bytes 0..17;", 8, "has 16 bytes"},
             Row{"input y: u32[] binding 0;", 7, "as `x` has"},
             Row{"input y: u32[] binding 64;", 7, "0 to 63"},
             Row{"input y: u32[] binding 63;", 0},
             Row{"table y: u32[1] = { 1u };", 0},
             Row{"table y: bool[1] = { true };", 7, "bool"},
             Row{"variant \"\" entry \"b\" file \"c\";", 1, "format of a variant is empty"},
             Row{"variant \"a\" entry \"b\" text \"\"\"\"\"\";", 1, "no code"},
         })
        check(head(row.text), row, 2);
}

TEST_CASE("limits of counts") {
    std::string many;
    for (int k = 0; k < 65; ++k) many += "param p" + std::to_string(k) + ": u32; ";
    CHECK(test::problems(head(many)).at(0).message.find("67 parameters; the limit is 64") !=
          std::string::npos);
    many.clear();
    for (int k = 0; k < 16; ++k) many += (k > 0 ? ", a" : "a") + std::to_string(k) + ": u32";
    CHECK(test::problems(head("fn f(" + many + ") -> u32 { return a0; }")).empty());
    CHECK(!test::problems(head("fn f(" + many + ", z: u32) -> u32 { return z; }")).empty());
    many = "0u";
    for (int k = 1; k < 16384; ++k) many += ",0u";
    CHECK(test::problems(head("table t: u32[16384] = {" + many + "};")).empty());
    CHECK(!test::problems(head("table t: u32[16385] = {" + many + ",0u};")).empty());
    const std::string name(64, 'q');
    CHECK(test::problems(head("param " + name + ": u32;")).empty());
    CHECK(!test::problems(head("param " + name + "q: u32;")).empty());
}

TEST_CASE("nesting and depth") {
    const auto nest = [](int depth) {
        std::string text;
        for (int k = 0; k < depth; ++k) text += "if n == 1u { ";
        return test::around(text + std::string(static_cast<std::size_t>(depth), '}'));
    };
    CHECK(test::problems(nest(63)).empty());  // main's block is the first of 64
    CHECK(!test::problems(nest(64)).empty());
    const auto sum = [](int terms) {
        std::string text = "let q = n";
        for (int k = 1; k < terms; ++k) text += " + n";
        return test::around(text + ";");
    };
    CHECK(test::problems(sum(128)).empty());
    CHECK(!test::problems(sum(129)).empty());
}

TEST_CASE("calls, blocks and operations are inside each other at most 3000 deep") {
    const auto nots = [](int depth, const std::string& inner) {
        std::string out = inner;
        for (int k = 0; k < depth; ++k) out = "~(" + out + ")";
        return out;
    };
    // 2 levels, and 107 more for each of 28 functions: 2998.
    std::string fns = "fn g0(v: u32) -> u32 { return v + 1u; }\n";
    for (int k = 1; k <= 28; ++k)
        fns += "fn g" + std::to_string(k) + "(v: u32) -> u32 { return " +
               nots(106, "g" + std::to_string(k - 1) + "(v)") + "; }\n";
    CHECK(test::problems(test::around("r[0] = g28(n);", fns)).empty());
    for (const char* body : {"r[0] = ~g28(n);", "if n > 1u { r[0] = g28(n); }"}) {
        const auto list = test::problems(test::around(body, fns));
        REQUIRE(list.size() == 1);
        CHECK(list[0].message.find("the limit is 3000") != std::string::npos);
    }
}

TEST_CASE("nodes count with all calls inlined, in linear time") {
    std::string fns = "fn g0(v: u32) -> u32 { return v + 1u; }\n";
    for (int k = 1; k < 1000; ++k) {
        const std::string callee = "g" + std::to_string(k - 1) + "(v)";
        fns += "fn g" + std::to_string(k) + "(v: u32) -> u32 { return " + callee + " + " + callee +
               "; }\n";
    }
    const auto list = test::problems(test::around("r[0] = g999(n);", fns));
    REQUIRE(!list.empty());
    CHECK(list[0].message.find("calls inlined") != std::string::npos);
}

// Drivers inline calls. With this many added nodes they compile for seconds.
TEST_CASE("inlined calls add at most 2^18 nodes, for the validator and the encoder") {
    const auto doubled = [](int levels, const std::string& body) {
        std::string fns = "fn g0(v: u32) -> u32 { return " + body + "; }\n";
        for (int k = 1; k <= levels; ++k) {
            const std::string callee = "g" + std::to_string(k - 1) + "(v)";
            fns += "fn g" + std::to_string(k) + "(v: u32) -> u32 { return " + callee + " + " +
                   callee + "; }\n";
        }
        return test::around("r[0] = g" + std::to_string(levels) + "(n);", fns);
    };
    CHECK(test::problems(doubled(14, "v + 1u")).empty());  // 131,067 nodes
    const auto list = test::problems(doubled(16, "v + 1u"));
    REQUIRE(!list.empty());
    CHECK(list[0].message.find("the limit is 262144") != std::string::npos);
    ParseResult parsed = parse(doubled(16, "v + 1u"));
    REQUIRE(parsed.ok());
    const auto encoded = encode(parsed.program, Notes::Drop);
    REQUIRE(!encoded.ok());
    CHECK(encoded.error().message.find("262144") != std::string::npos);
    // As many calls as in the accepted program, but of a larger function.
    ParseResult fits = parse(doubled(14, "v + 1u + 2u + 3u + 4u + 5u + 6u"));
    REQUIRE(fits.ok());
    CHECK(!encode(fits.program, Notes::Drop).ok());
}

TEST_CASE("a program without a text says where in words") {
    ParseResult result = parse(
        test::around("let q = n;\nif q == 1u { b[0] = 1u; let z = 2u; b[1] = z; }\nb[2] = 3u;",
                     "fn f(v: u32) -> u32 { var q = v; return q; }"));
    REQUIRE(result.ok());
    // Break two rules that the wire form cannot rule out.
    Program& p = result.program;
    for (Stmt& s : p.main.stmts)
        if (s.op == Op::STORE && s.args[1] != kNone && p.main.exprs[s.args[1]].op == Op::LOCAL)
            s.imm = 0;  // `x`, an input of f32
    for (Expr& e : p.functions[0].code.exprs)
        if (e.op == Op::LOCAL) e.op = Op::LEN_ARRAY;
    auto wire = encode(p, Notes::Drop);
    REQUIRE(wire.ok());
    auto again = decode(*wire);
    REQUIRE(again.ok());
    const Program before = *again;
    const auto list = validate(*again);
    std::string all;
    for (const Diagnostic& d : list) {
        CHECK(d.place.line == 0);
        all += d.where + ": " + d.message + "\n";
    }
    CAPTURE(all);
    CHECK(all.find("main, statement 5: `x` is `input`") != std::string::npos);
    CHECK(all.find("function `f`, statement 1") != std::string::npos);
    CHECK(all.find("function `f`, the returned value") != std::string::npos);
    for (const Stmt& s : again->main.stmts) CHECK(s.place == Place{});
    for (const Expr& e : again->main.exprs) CHECK(e.place == Place{});
}

TEST_CASE("unsound trees from a builder are refused, not walked") {
    const auto broken = [](auto change) {
        ParseResult result = parse(test::around("let q = n + 1u; if q == 2u { b[0] = q; }"));
        REQUIRE(result.ok());
        change(result.program);
        return validate(result.program);
    };
    CHECK(broken([](Program&) {}).empty());
    CHECK(!broken([](Program& p) { p.main.root = 99; }).empty());
    CHECK(!broken([](Program& p) { p.main.blocks[0].push_back(0); }).empty());
    CHECK(!broken([](Program& p) { p.main.blocks[0].push_back(99); }).empty());
    CHECK(!broken([](Program& p) { p.main.operands[0] = 77; }).empty());
    CHECK(!broken([](Program& p) { p.main.operands[1] = p.main.operands[0]; }).empty());
    CHECK(!broken([](Program& p) { p.main.exprs[0].imm = 60; }).empty());
    CHECK(!broken([](Program& p) { p.main.exprs[2].count = 1; }).empty());
    CHECK(!broken([](Program& p) { p.main.exprs[2].first = 1000; }).empty());
    CHECK(!broken([](Program& p) { p.main.stmts[0].local = 3; }).empty());
    CHECK(!broken([](Program& p) { p.main.locals.push_back({}); }).empty());
    CHECK(!broken([](Program& p) { p.main.stmts[0].op = Op::ADD; }).empty());
    CHECK(!broken([](Program& p) { p.main.exprs[1].extra = std::uint64_t{1} << 40; }).empty());
    CHECK(!broken([](Program& p) { p.buffers[0].name = "main"; }).empty());
    CHECK(!broken([](Program& p) { p.buffers[0].name = p.params[0].name; }).empty());
    CHECK(!broken([](Program& p) { p.workgroup[1] = 0; }).empty());
    CHECK(!broken([](Program& p) { p.math_set = 0; }).empty());
    CHECK(!broken([](Program& p) { p.math_set = 3; }).empty());
    CHECK(broken([](Program& p) { p.math_set = 2; }).empty());
    CHECK(broken([](Program& p) { p.buffers[0].name = "expm1"; }).empty());
    CHECK(!broken([](Program& p) {
               p.buffers[0].name = "expm1";
               p.math_set = 2;
           }).empty());
    CHECK(!broken([](Program& p) { p.grid.kind = 1; }).empty());
    // A use of a local after the end of its block.
    ParseResult result = parse(test::around("if n == 2u { let q = n; } let z = n; b[0] = z;"));
    REQUIRE(result.ok());
    for (Expr& e : result.program.main.exprs)
        if (e.op == Op::LOCAL) e.extra = 0;
    const auto list = validate(result.program);
    REQUIRE(list.size() == 1);
    CHECK(list[0].message.find("`q` is used outside of its block") != std::string::npos);
}

TEST_CASE("the first 100 errors, in text order") {
    std::string body;
    for (int k = 0; k < 300; ++k) body += "b[true] = 1u;\n";
    const auto list = test::problems(test::around(body));
    REQUIRE(list.size() == kMaxDiagnostics);
    for (std::size_t k = 0; k < list.size(); ++k) CHECK(list[k].place.line == test::kBodyLine + k);
}

}  // namespace test_rules
