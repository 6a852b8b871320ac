// SPDX-License-Identifier: Apache-2.0
// assign_types: the types of statements. Each error comes once, in text order and with a remedy.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "wye/sdk/typing.hpp"

namespace test_assign {

using namespace wye::ir;

namespace {

// Builds a program body by hand, without the parser: statements whose operands are literals.
struct Maker {
    Program program;
    Code& code = program.main;

    Maker() {
        code.blocks = {{}};
        code.root = 0;
        Buffer b;
        b.name = "b";
        b.role = Role::OUTPUT;
        b.type = *type_from_name("u8x2");
        program.buffers.push_back(b);
    }

    ExprId add(Expr e, std::vector<ExprId> operands = {}) {
        e.first = static_cast<std::uint32_t>(code.operands.size());
        e.count = static_cast<std::uint32_t>(operands.size());
        code.operands.insert(code.operands.end(), operands.begin(), operands.end());
        e.place = {static_cast<std::uint32_t>(code.exprs.size() + 1), 1};
        code.exprs.push_back(e);
        return static_cast<ExprId>(code.exprs.size() - 1);
    }
    ExprId literal(Type type) {
        Expr e;
        e.op = Op::LITERAL;
        e.imm = type.code();
        return add(e);
    }
    ExprId of(Type type) {  // a value of any type
        if (type.scalar()) return literal(type);
        Expr e;
        e.op = Op::SPLAT;
        e.imm = type.code();
        return add(e, {literal(type.component())});
    }
    ExprId op(Op op, std::vector<ExprId> operands, std::uint16_t imm = 0) {
        Expr e;
        e.op = op;
        e.imm = imm;
        return add(e, std::move(operands));
    }
    ExprId local(std::uint32_t number) {
        Expr e;
        e.op = Op::LOCAL;
        e.extra = number;
        return add(e);
    }
    std::uint32_t declare(Local::Form form, Type type = {}, const char* name = "") {
        Local l;
        l.form = form;
        l.type = type;
        l.name = name;
        code.locals.push_back(l);
        return static_cast<std::uint32_t>(code.locals.size() - 1);
    }
    Stmt& put(Op op, std::vector<ExprId> args, std::uint32_t number = kNone, BlockId into = 0) {
        Stmt s;
        s.op = op;
        for (std::size_t i = 0; i < args.size(); ++i) s.args[i] = args[i];
        s.local = number;
        code.stmts.push_back(s);
        code.blocks[into].push_back(static_cast<StmtId>(code.stmts.size() - 1));
        return code.stmts.back();
    }
    BlockId block() {
        code.blocks.emplace_back();
        return static_cast<BlockId>(code.blocks.size() - 1);
    }
    std::vector<std::string> problems() {
        std::vector<std::string> out;
        const bool clean = assign_types(program, [&](const TypeProblem& p) {
            CHECK(p.fix.rfind("Fix: ", 0) == 0);
            CHECK((p.problem.empty() || p.problem.back() != '.'));
            out.push_back(p.problem);
        });
        CHECK(clean == out.empty());
        return out;
    }
    void one(const std::string& part) {
        const auto all = problems();
        REQUIRE(all.size() == 1);
        CHECK_MESSAGE(all[0].find(part) != std::string::npos, all[0]);
    }
};

Type named(const char* name) { return *type_from_name(name); }

}  // namespace

TEST_CASE("let and var take the type of their value, for that of its bounds") {
    Maker m;
    m.put(Op::LET, {m.of(named("f32x3"))}, m.declare(Local::Form::Let));
    m.put(Op::VAR, {m.local(0)}, m.declare(Local::Form::Var));
    m.put(Op::VAR_ZERO, {}, m.declare(Local::Form::Var)).imm = kI64.code();
    const BlockId body = m.block();
    m.put(Op::FOR, {m.literal(kU64), m.literal(kU64), m.literal(kU64)}, m.declare(Local::Form::For))
        .body = body;
    m.put(Op::LET, {m.local(3)}, m.declare(Local::Form::Let), body);
    CHECK(m.problems().empty());
    CHECK(m.code.locals[0].type == named("f32x3"));
    CHECK(m.code.locals[1].type == named("f32x3"));
    CHECK(m.code.locals[2].type == kI64);
    CHECK(m.code.locals[3].type == kU64);
    CHECK(m.code.locals[4].type == kU64);
}

TEST_CASE("one mistake is reported once") {
    Maker m;
    const ExprId bad = m.op(Op::ADD, {m.literal(kF32), m.literal(kU32)});
    const ExprId above = m.op(Op::NEG, {m.op(Op::MUL, {bad, m.literal(kBool)})});
    m.put(Op::LET, {above}, m.declare(Local::Form::Let));
    m.put(Op::LET, {m.op(Op::NOT, {m.local(0)})}, m.declare(Local::Form::Let));
    m.put(Op::ASSIGN, {m.literal(kBool)}, 0);
    m.put(Op::IF, {m.local(1)});
    m.one("`+` takes values of one type, got f32 and u32");
    CHECK(m.code.exprs[above].type.none());
}

TEST_CASE("mistakes come in text order") {
    Maker m;
    const BlockId then = m.block();
    const BlockId otherwise = m.block();
    Stmt& branch = m.put(Op::IF, {m.literal(kU32)});
    branch.body = then;
    branch.otherwise = otherwise;
    m.put(Op::WHILE, {m.literal(kF32)}, kNone, otherwise);
    m.put(Op::LET, {m.op(Op::NOT, {m.literal(kF64)})}, m.declare(Local::Form::Let), then);
    m.put(Op::LET, {m.op(Op::LOGICAL_NOT, {m.literal(kI32)})}, m.declare(Local::Form::Let));
    const auto all = m.problems();
    REQUIRE(all.size() == 4);
    CHECK(all[0].find("condition of `if`") != std::string::npos);
    CHECK(all[1].find("`~`") != std::string::npos);
    CHECK(all[2].find("condition of `while`") != std::string::npos);
    CHECK(all[3].find("`!`") != std::string::npos);
}

TEST_CASE("statement operands") {
    SUBCASE("a store takes the loaded type") {
        Maker m;
        m.put(Op::STORE, {m.literal(kU32), m.of(named("u32x2"))});
        CHECK(m.problems().empty());
    }
    SUBCASE("a store of another type") {
        Maker m;
        m.put(Op::STORE, {m.literal(kU32), m.of(named("i32x2"))});
        m.one("an element of `b` is u32x2, got i32x2");
    }
    SUBCASE("a store's index") {
        Maker m;
        m.put(Op::STORE, {m.literal(kF32), m.of(named("u32x2"))});
        m.one("the index of `b` is f32");
    }
    SUBCASE("an assignment") {
        Maker m;
        m.declare(Local::Form::Var, {}, "sum");
        m.put(Op::VAR_ZERO, {}, 0).imm = kF32.code();
        m.put(Op::ASSIGN, {m.literal(kF64)}, 0);
        m.one("`sum` is f32, got f64");
    }
    SUBCASE("a component") {
        Maker m;
        m.declare(Local::Form::Var, {}, "v");
        m.put(Op::VAR_ZERO, {}, 0).imm = named("f32x2").code();
        m.put(Op::ASSIGN_COMPONENT, {m.literal(kF32)}, 0).imm = 1;
        CHECK(m.problems().empty());
        m.put(Op::ASSIGN_COMPONENT, {m.literal(kF32)}, 0).imm = 2;
        m.one("`v` has no component `.z`");
        m.code.stmts.back().imm = 0;
        m.code.stmts.back().args[0] = m.of(named("f32x2"));
        m.one("a component of `v` is f32, got f32x2");
    }
    SUBCASE("arrays") {
        Maker m;
        m.declare(Local::Form::Array, named("f32x2"), "a");
        m.put(Op::VAR_ARRAY, {}, 0).imm = named("f32x2").code();
        m.put(Op::STORE_ARRAY, {m.literal(kI64), m.of(named("f32x2"))}, 0);
        CHECK(m.problems().empty());
        m.put(Op::ASSIGN, {m.of(named("f32x2"))}, 0);
        m.one("`a` is an array");
        m.code.stmts.back().op = Op::STORE_ARRAY;
        m.code.stmts.back().args = {m.literal(kU32), m.literal(kF32), kNone};
        m.one("an element of `a` is f32x2, got f32");
        m.code.locals[0].form = Local::Form::Var;
        CHECK(m.problems().size() == 2);
    }
    SUBCASE("variables and arrays of storage types") {
        for (const char* type : {"u8", "bf16x2", "i16"})
            for (const Op op : {Op::VAR_ZERO, Op::VAR_ARRAY}) {
                Maker m;
                m.declare(op == Op::VAR_ZERO ? Local::Form::Var : Local::Form::Array);
                m.put(op, {}, 0).imm = named(type).code();
                m.one(type);
            }
        Maker m;
        m.declare(Local::Form::Array);
        m.put(Op::VAR_ARRAY, {}, 0).imm = kBool.code();
        m.one("bool");
    }
    SUBCASE("bounds of for") {
        Maker m;
        const BlockId body = m.block();
        m.put(Op::FOR, {m.literal(kU32), m.literal(kI32), m.literal(kU32)},
              m.declare(Local::Form::For))
            .body = body;
        m.one("`for` counts in u32, but its end is i32");
        m.code.stmts[0].args[1] = m.literal(kF32);
        m.one("the end of `for` is f32");
        m.code.stmts[0].args[1] = m.of(named("u32x2"));
        m.one("the end of `for` is u32x2");
    }
    SUBCASE("atomic_store gives nothing") {
        Maker m;
        m.program.buffers[0].type = kU32;
        const ExprId store = m.op(Op::ATOMIC_STORE, {m.literal(kU32), m.literal(kU32)});
        m.put(Op::EFFECT, {store});
        CHECK(m.problems().empty());
        m.put(Op::LET, {m.op(Op::ATOMIC_STORE, {m.literal(kU32), m.literal(kU32)})},
              m.declare(Local::Form::Let, {}, "x"));
        m.one("`atomic_store` gives no value for `x`");
    }
}

TEST_CASE("functions: arguments, result") {
    const auto with = [](Type argument, Type result, Type value) {
        Maker m;
        Function f;
        f.name = "f";
        f.type = result;
        f.arguments = 1;
        f.code.locals.resize(1);
        f.code.locals[0].form = Local::Form::Argument;
        f.code.locals[0].type = argument;
        f.code.blocks = {{}};
        f.code.root = 0;
        Expr e;
        e.op = Op::LITERAL;
        e.imm = value.code();
        f.code.exprs = {e};
        f.code.result = 0;
        m.program.functions.push_back(f);
        return m.problems();
    };
    CHECK(with(kF32, kU32, kU32).empty());
    CHECK(with(kF32, kU32, kI32) == std::vector<std::string>{"`f` returns u32, not i32"});
    CHECK(with(named("u8"), kU32, kU32).size() == 1);
    CHECK(with(kF32, named("bf16"), kF32).size() >= 1);
}

TEST_CASE("broken references are survived") {
    Maker m;
    m.put(Op::LET, {kNone}, m.declare(Local::Form::Let));
    m.put(Op::IF, {12345});
    m.put(Op::STORE, {kNone, kNone}).imm = 77;
    Expr self;  // an expression that is its own operand
    self.op = Op::NEG;
    m.put(Op::LET, {m.add(self, {static_cast<ExprId>(m.code.exprs.size())})},
          m.declare(Local::Form::Let));
    CHECK(m.problems().empty());
    CHECK(m.code.locals[0].type.none());
}

}  // namespace test_assign
