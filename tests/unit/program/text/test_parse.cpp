// SPDX-License-Identifier: Apache-2.0
//
// The program that each production of the grammar gives.
#include <doctest/doctest.h>

#include "text_helpers.hpp"

namespace test_parse {

using namespace wye::ir;

namespace {

Program parsed(const std::string& text) {
    ParseResult result = parse(text);
    CHECK_MESSAGE(result.ok(), test::shown(result.diagnostics, text));
    return std::move(result.program);
}

Program body(const std::string& text) { return parsed(test::around(text)); }

// The operations of a tree in prefix order.
std::string ops(const Code& code, ExprId id) {
    const Expr& e = code.exprs[id];
    std::string out(op_text(e.op));
    if (e.count > 0) out += "(";
    for (std::uint32_t k = 0; k < e.count; ++k)
        out += (k > 0 ? " " : "") + ops(code, code.operands_of(e)[k]);
    return e.count > 0 ? out + ")" : out;
}

std::string let_ops(const std::string& expression) {
    const Program p = body("let q = " + expression + ";");
    return ops(p.main, p.main.stmts[0].args[0]);
}

}  // namespace

TEST_CASE("the head") {
    const Program p = parsed(
        "wye 1; program p; workgroup 8, 4, 2 adjustable; subgroup 32;\n"
        "const N = 16; const BIG = 0x1_0000_0000u64;\n"
        "param a: f32; param n: u32;\n"
        "input x: f32x4[] align 64 live; uniform u: u32[N] binding 9;\n"
        "input_output y: bf16x3[BIG] bytes 0..64 binding 3; output r: u8x2[n * 2 - len(x) / 3] "
        "unset;\n"
        "persistent q: i64[N * 4 + 1]; shared s: f32[4] unset;\n"
        "grid groups n, 2, len(x);\n"
        "table t: i32[3] = { 1, -2, 0x10, };\n"
        "variant \"cuda-c\" entry \"k\\\"\\\\\" for \"cuda:*\" file \"k.cu\";\n"
        "variant \"ptx\" entry \"k\" text \"\"\"a \"b\" \\c\"\"\"\";\n"
        "fn f(v: u32, w: f32x2) -> f32 { return w.y; }\n"
        "main { }\n");
    CHECK(p.name == "p");
    CHECK(p.workgroup == std::array<std::uint32_t, 3>{8, 4, 2});
    CHECK(p.adjustable);
    CHECK(p.subgroup == 32);
    CHECK(p.params.size() == 2);
    REQUIRE(p.buffers.size() == 6);
    // In the order of bindings: x 0, y 3, r 4, q 5, s 6, u 9.
    const std::string names[] = {"x", "y", "r", "q", "s", "u"};
    const std::uint32_t bindings[] = {0, 3, 4, 5, 6, 9};
    for (std::size_t k = 0; k < 6; ++k) {
        CHECK(p.buffers[k].name == names[k]);
        CHECK(p.buffers[k].binding == bindings[k]);
    }
    CHECK(p.buffers[0].align == 64);
    CHECK(p.buffers[0].live);
    CHECK(p.buffers[0].count_kind == Buffer::Count::Runtime);
    CHECK(p.buffers[1].count == 0x100000000);
    CHECK(p.buffers[1].bytes == std::array<std::uint64_t, 2>{0, 64});
    CHECK(p.buffers[1].type == Type{Kind::BF16, 3});
    CHECK(p.buffers[2].unset);
    const SizeExpr size = {{WYE_SIZE_SUB, 0, 0},     {WYE_SIZE_MUL, 0, 0}, {WYE_SIZE_PARAM, 1, 0},
                           {WYE_SIZE_LITERAL, 0, 2}, {WYE_SIZE_DIV, 0, 0}, {WYE_SIZE_LEN, 0, 0},
                           {WYE_SIZE_LITERAL, 0, 3}};
    CHECK(p.buffers[2].size == size);
    CHECK(p.buffers[3].count_kind == Buffer::Count::Literal);  // only numbers: folded to a literal
    CHECK(p.buffers[3].count == 65);
    CHECK(p.grid.kind == WYE_GRID_GROUPS);
    CHECK(p.grid.axes.size() == 3);
    CHECK(p.tables[0].bits == std::vector<std::uint64_t>{1, 0xfffffffe, 16});
    CHECK(p.variants[0].entry == "k\"\\");
    CHECK(p.variants[0].filter == "cuda:*");
    CHECK(p.variants[0].file == "k.cu");
    CHECK(p.variants[1].bytes.size() == 9);  // one of the last four quotes is text
    CHECK(p.functions[0].arguments == 2);
}

TEST_CASE("hints, whose words are names elsewhere") {
    const Program p = parsed(
        "wye 1; program coalesce; workgroup 8, 2; param locality: u32; const streaming = 64;\n"
        "input x: f32[] coalesce y locality streaming align 16 prefer_align streaming;\n"
        "input prefer_align: u32[] locality temporal live; output r: u32[] locality unspecified;\n"
        "main { let temporal = x[locality]; let unspecified = prefer_align[0]; }\n");
    REQUIRE(p.buffers.size() == 3);
    CHECK(p.buffers[0].hints == Hints{2, 64, Locality::STREAMING});
    CHECK(p.buffers[0].align == 16);
    CHECK(p.buffers[1].name == "prefer_align");
    CHECK(p.buffers[1].hints == Hints{0, 0, Locality::TEMPORAL});
    CHECK(p.buffers[1].live);
    CHECK_FALSE(p.buffers[2].hints.given());
    CHECK(p.main.locals[0].name == "temporal");
}

TEST_CASE("the math set, and the names that it reserves") {
    CHECK(parsed("wye 1; program p; workgroup 1; main { }").math_set == 1);
    CHECK(parsed("wye 1; math 1; program p; workgroup 1; main { }").math_set == 1);
    CHECK(parsed("wye 1; math 2; program p; workgroup 1; main { }").math_set == 2);
    const std::string uses = " workgroup 1; output r: f32[1]; main { r[0] = expm1(2.0); }";
    const Program builtin = parsed("wye 1; math 2; program math;" + uses);
    CHECK(builtin.name == "math");
    CHECK(ops(builtin.main, builtin.main.stmts[0].args[1]) == "expm1(literal)");
    // Programs of set 1 may have functions of these names.
    const Program own = parsed("wye 1; program sinpi; fn expm1(log1p: f32) -> f32 {" +
                               std::string(" let cospi = log1p; return cospi; }") + uses);
    CHECK(ops(own.main, own.main.stmts[0].args[1]) == "call(literal)");
    CHECK(own.functions[0].name == "expm1");
}

TEST_CASE("precedence, loosest first, left to right") {
    CHECK(let_ops("n == 1u || n == 2u && n != 3u") ==
          "||(==(param literal) &&(==(param literal) !=(param literal)))");
    CHECK(let_ops("n < 1u | 2u") == "<(param |(literal literal))");
    CHECK(let_ops("1 | 2 ^ 3 & 4 << 5u + 6u * 7u") ==
          "|(literal ^(literal &(literal <<(literal +(literal *(literal literal))))))");
    CHECK(let_ops("1 - 2 - 3") == "-(-(literal literal) literal)");
    CHECK(let_ops("8 / 4 % 3 * 2") == "*(%(/(literal literal) literal) literal)");
    CHECK(let_ops("1 - (2 - 3)") == "-(literal -(literal literal))");
    CHECK(let_ops("-n.x") != "");  // parses; the validator checks the types
    CHECK(let_ops("!(n == 1u)") == "!(==(param literal))");
    CHECK(let_ops("~-1") == "~(literal)");
    CHECK(let_ops("- -1") == "-(literal)");
    CHECK(let_ops("1 - -1") == "-(literal literal)");
    CHECK(let_ops("-(1)") == "-(literal)");
    CHECK(let_ops("1-1") == "-(literal literal)");
    CHECK(let_ops("-inf_f32") == "literal");
    CHECK(let_ops("-nan_f32") == "-(literal)");
}

TEST_CASE("T(x) is a conversion, a splat or a construction") {
    CHECK(let_ops("f32(n)") == "convert(param)");
    CHECK(let_ops("f32x4(a)") == "splat(param)");
    CHECK(let_ops("u32x4(k[0])") == "convert(load(literal))");
    CHECK(let_ops("f32x2(a, a)") == "construct(param param)");
    CHECK(let_ops("bitcast<u32>(a)") == "bitcast(param)");
}

TEST_CASE("a range is no float") {
    const Program p = body("for i in 0..4 { } for j in 0u..n step 2u { }");
    CHECK(p.main.exprs[p.main.stmts[0].args[1]].extra == 4);
    CHECK(p.main.exprs[p.main.stmts[0].args[2]].extra == 1);  // the default step
    CHECK(p.main.exprs[p.main.stmts[0].args[2]].type == kI32);
    CHECK(p.main.exprs[p.main.stmts[1].args[2]].extra == 2);
}

TEST_CASE("statements") {
    const Program p = body(
        "let i = global_id.x; var v: f32x2; var e: u32[4]; var q: u32 = 3u; var z = 1.0;\n"
        "v.y = a; q += 2u; q = q << 1u; e[i] = q; b[i] = 1u;\n"
        "let old = atomic_add(b[i], 1u); atomic_store(b[i], old); q = atomic_load(b[0]);\n"
        "if q == 1u { } else if q == 2u { q = 1u; } else { trap 7; }\n"
        "while q != 0u { if q == 3u { break; } else { continue; } }\n"
        "barrier; return;");
    const Op expected[] = {
        Op::LET,    Op::VAR_ZERO, Op::VAR_ARRAY,   Op::VAR,     Op::VAR,   Op::ASSIGN_COMPONENT,
        Op::ASSIGN, Op::ASSIGN,   Op::STORE_ARRAY, Op::STORE,   Op::LET,   Op::EFFECT,
        Op::ASSIGN, Op::IF,       Op::WHILE,       Op::BARRIER, Op::RETURN};
    const auto& block = p.main.blocks[p.main.root];
    REQUIRE(block.size() == std::size(expected));
    for (std::size_t k = 0; k < block.size(); ++k) CHECK(p.main.stmts[block[k]].op == expected[k]);
    const Stmt& branch = p.main.stmts[block[13]];
    REQUIRE(p.main.blocks[branch.otherwise].size() == 1);
    CHECK(p.main.stmts[p.main.blocks[branch.otherwise][0]].op == Op::IF);
    CHECK(p.main.locals[2].count == 4);
}

TEST_CASE("op= reads and writes the same place") {
    const Program p = body("var v = f32x2(a); v.y *= 2.0;");
    const Stmt& s = p.main.stmts[1];
    CHECK(s.op == Op::ASSIGN_COMPONENT);
    CHECK(ops(p.main, s.args[0]) == "*(component(local) literal)");
}

TEST_CASE("places count characters and lines") {
    const std::string text = test::around("// \xc3\xa9\xc3\xa9 \xe2\x82\xac\n\tlet q = n + 1u;");
    const Program p = parsed(text);
    const Stmt& s = p.main.stmts[0];
    CHECK(s.place == Place{test::kBodyLine + 1, 2});
    CHECK(p.main.exprs[s.args[0]].place == Place{test::kBodyLine + 1, 12});
    CHECK(p.main.locals[0].place == Place{test::kBodyLine + 1, 6});
}

TEST_CASE("a name may come again when the first is out of scope") {
    body("for i in 0..4 { let q = i; } for i in 0u..4u { let q = i; } if n == 1u { let q = 1; }");
    parsed(test::around("let v = f(n);",
                        "fn f(v: u32) -> u32 { let q = v; return q; }\n"
                        "fn g(v: u32) -> u32 { let q = f(v); return q; }"));
}

TEST_CASE("long inputs end quickly") {
    std::string text = test::around("let q = " + std::string(200000, '(') + ";");
    CHECK(!parse(text).ok());
    text = test::around("let q = " + std::string(200000, '-') + "n;");
    CHECK(!parse(text).ok());
    text = "wye 1; program p; workgroup 1; main {";
    for (int k = 0; k < 100000; ++k) text += "if true {";
    CHECK(!parse(text).ok());
    text = "wye 1; program p; workgroup 1; main {";
    for (int k = 0; k < 100000; ++k) text += "let q = zz" + std::to_string(k) + ";";
    CHECK(parse(text).diagnostics.size() == kMaxDiagnostics);
    CHECK(!parse(std::string((16U << 20U) + 1, ' ')).ok());
}

}  // namespace test_parse
