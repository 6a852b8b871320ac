// SPDX-License-Identifier: Apache-2.0
// encode and decode are inverse, on random programs and on bytes written by hand.
#include <doctest/doctest.h>

#include <set>

#include "generated.hpp"
#include "program/wire/encode.hpp"
#include "support/sanitized.hpp"
#include "wire_bytes.hpp"
#include "wye/sdk/wire.hpp"

namespace test_round_trip {

using namespace wye::ir;

TEST_CASE("random programs survive the wire") {
    for (std::uint64_t seed = 0; seed < (support::kSanitized ? 150 : 1000); ++seed) {
        CAPTURE(seed);
        const Program program = test::scrambled(seed);
        const auto wire = encode(program);
        REQUIRE_MESSAGE(wire.ok(), (wire.ok() ? std::string() : wire.error().text()));
        const auto read = decode(*wire);
        REQUIRE_MESSAGE(read.ok(), (read.ok() ? std::string() : read.error().text()));
        CHECK(same_program(program, *read));
        const auto again = encode(*read);
        REQUIRE(again.ok());
        CHECK(*again == *wire);

        // Without notes the program is the same, but the names of locals are gone.
        const auto bare = encode(program, Notes::Drop);
        REQUIRE(bare.ok());
        const auto bare_read = decode(*bare);
        REQUIRE(bare_read.ok());
        CHECK(same_program(program, *bare_read));
        CHECK(bare_read->notes.empty());
        for (const Local& local : bare_read->main.locals) CHECK(local.name.empty());
    }
}

TEST_CASE("random programs have every operation and every statement") {
    std::set<Op> seen;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        const Program program = test::scrambled(seed);
        const auto look = [&](const Code& code) {
            for (const Expr& e : code.exprs) seen.insert(e.op);
            for (const Stmt& s : code.stmts) seen.insert(s.op);
        };
        for (const Function& f : program.functions) look(f.code);
        look(program.main);
    }
    for (const Op op : {
#define WYE_TEST_OP(name, code, text, operands) Op::name,
             WYE_LEAVES(WYE_TEST_OP) WYE_OPERATORS(WYE_TEST_OP) WYE_MATH(WYE_TEST_OP)
                 WYE_EFFECTS(WYE_TEST_OP)
#undef WYE_TEST_OP
                     Op::LET,
             Op::VAR, Op::VAR_ZERO, Op::VAR_ARRAY, Op::ASSIGN, Op::ASSIGN_COMPONENT, Op::STORE,
             Op::STORE_ARRAY, Op::EFFECT, Op::IF, Op::FOR, Op::WHILE, Op::BREAK, Op::CONTINUE,
             Op::RETURN, Op::BARRIER, Op::GRID_BARRIER, Op::TRAP})
        CHECK_MESSAGE(seen.count(op) == 1, op_text(op), " ", static_cast<int>(op));
}

TEST_CASE("different random programs differ") {
    const Program a = test::scrambled(1);
    const Program b = test::scrambled(2);
    CHECK_FALSE(same_program(a, b));
    CHECK(same_program(a, a));
}

TEST_CASE("a program written down by hand") {
    // param n: u32;  input_output b: u32[n * 2];
    // fn twice(v: u32) -> u32 { return v + v; }
    // main { let i = global_id.x; if i < len(b) { b[i] = twice(b[i]); } else { trap 7; } }
    test::Wire wire;
    wire.sections.push_back({1, test::head()});
    test::Words& params = wire.section(2);
    params = {1};
    test::text(params, "n");
    params.push_back(0x0103);
    test::Words& buffers = wire.section(3);
    buffers = {1};
    test::text(buffers, "b");
    buffers.insert(buffers.end(), {0, 3, 0x0103, 0, 0, 2, 5, 6, 2, 1, 2, 0});
    test::Words& functions = wire.section(5);
    functions = {1};
    test::text(functions, "twice");
    functions.insert(functions.end(), {0x0103, 1, 0x0103, 6, 0, 0x203, 0x102, 0, 0x102, 0});
    wire.section(6) = {18,
                       2,                                       // two statements
                       0x01,  0x110,     0x00020103,            // let = global_id .x
                       0x0a,  0x211,     0x102,      0, 0x104,  // if local 0 < len(b)
                       1,     0x07,      0x102,      0, 0x10d,
                       0x10a, 0x102,     0,  // b[i] = twice(b[i])
                       1,     0x00070012};   // else trap 7
    wire.section(6)[0] = static_cast<std::uint32_t>(wire.section(6).size() - 1);

    const auto bytes = wire.bytes();
    const auto read = decode(bytes);
    REQUIRE_MESSAGE(read.ok(), (read.ok() ? std::string() : read.error().text()));
    const Program& p = *read;
    CHECK(p.name == "p");
    REQUIRE(p.params.size() == 1);
    CHECK(p.params[0].type == kU32);
    REQUIRE(p.buffers.size() == 1);
    CHECK(p.buffers[0].role == Role::INPUT_OUTPUT);
    CHECK(p.buffers[0].count_kind == Buffer::Count::Computed);
    REQUIRE(p.buffers[0].size.size() == 3);
    CHECK(p.buffers[0].size[0].op == WYE_SIZE_MUL);
    CHECK(p.buffers[0].size[1].op == WYE_SIZE_PARAM);
    CHECK(p.buffers[0].size[2].literal == 2);
    REQUIRE(p.functions.size() == 1);
    CHECK(p.functions[0].code.exprs[p.functions[0].code.result].op == Op::ADD);
    CHECK(p.functions[0].code.exprs[p.functions[0].code.result].type == kU32);
    REQUIRE(p.main.blocks[p.main.root].size() == 2);
    const Stmt& branch = p.main.stmts[p.main.blocks[p.main.root][1]];
    CHECK(branch.op == Op::IF);
    CHECK(p.main.exprs[branch.args[0]].type == kBool);
    CHECK(p.main.locals[0].type == kU32);
    const Stmt& trap = p.main.stmts[p.main.blocks[branch.otherwise][0]];
    CHECK(trap.op == Op::TRAP);
    CHECK(trap.imm == 7);
    // Operands come before the expressions that use them.
    for (ExprId id = 0; id < p.main.exprs.size(); ++id)
        for (const ExprId operand : p.main.operands_of(id)) CHECK(operand < id);
    const auto again = encode(p);
    REQUIRE(again.ok());
    CHECK(*again == bytes);
}

TEST_CASE("the encoder refuses what the reader would refuse") {
    const auto refused = [](const Program& p, wye::Code code, const char* part) {
        const auto wire = encode(p);
        REQUIRE_FALSE(wire.ok());
        CHECK(wire.error().code == code);
        CHECK_MESSAGE(wire.error().message.find(part) != std::string::npos, wire.error().message);
        CHECK(wire.error().fix.rfind("Fix: ", 0) == 0);
    };
    Program empty;
    empty.name = "p";
    empty.main.blocks = {{}};
    empty.main.root = 0;
    REQUIRE(encode(empty).ok());

    Program p = empty;
    p.variants.push_back({"cuda-c", "k", "", {}, "kernel.cu", {}});
    refused(p, wye::Code::INVALID_PROGRAM, "`kernel.cu`");

    p = empty;
    p.name = std::string(65, 'n');
    refused(p, wye::Code::LIMIT_EXCEEDED, "65; the limit is 64");

    p = empty;
    p.workgroup = {4096, 2, 1};
    refused(p, wye::Code::LIMIT_EXCEEDED, "4096");
    p.workgroup = {0xffffffffU, 0xffffffffU, 0xffffffffU};
    refused(p, wye::Code::LIMIT_EXCEEDED, "4096");

    p = empty;
    p.buffers.resize(2);
    for (Buffer& b : p.buffers) b.type = kU32;
    refused(p, wye::Code::INVALID_PROGRAM, "ascending");

    p = empty;
    p.main.root = kNone;
    refused(p, wye::Code::INVALID_PROGRAM, "block");

    p = empty;  // a block inside itself
    Stmt loop;
    loop.op = Op::WHILE;
    loop.args[0] = 0;
    loop.body = 0;
    Expr yes;
    yes.op = Op::LITERAL;
    yes.imm = kBool.code();
    yes.extra = 1;
    p.main.exprs = {yes};
    p.main.stmts = {loop};
    p.main.blocks = {{0}};
    refused(p, wye::Code::LIMIT_EXCEEDED, "nesting");

    p = empty;  // an expression inside itself
    Expr negation;
    negation.op = Op::LOGICAL_NOT;
    negation.count = 1;
    p.main.exprs = {negation};
    p.main.operands = {0};
    Stmt let;
    let.op = Op::LET;
    let.local = 0;
    let.args[0] = 0;
    p.main.stmts = {let};
    p.main.blocks = {{0}};
    p.main.locals.resize(1);
    refused(p, wye::Code::LIMIT_EXCEEDED, "depth");

    p.main.exprs = {yes};
    p.main.exprs[0].extra = 2;
    refused(p, wye::Code::INVALID_PROGRAM, "canonical");
    p.main.exprs[0].extra = 1;
    REQUIRE(encode(p).ok());
    p.main.stmts[0].local = 1;
    refused(p, wye::Code::INVALID_PROGRAM, "numbered");
    p.main.stmts[0].local = 0;
    p.main.locals.resize(2);
    refused(p, wye::Code::INVALID_PROGRAM, "locals");

    p = empty;
    p.notes = {{0x80000005U, {}}, {0x80000005U, {}}};
    refused(p, wye::Code::INVALID_PROGRAM, "twice");
    p.notes = {{7, {}}};
    refused(p, wye::Code::INVALID_PROGRAM, "note");
}

}  // namespace test_round_trip
