// SPDX-License-Identifier: Apache-2.0
#include "differential/edit.hpp"

#include <algorithm>

namespace differential {

using namespace wye::ir;

namespace {

std::uint64_t one_bits(Kind kind) {
    switch (kind) {
        case Kind::F16:
            return 0x3c00;
        case Kind::F32:
            return 0x3f800000;
        case Kind::F64:
            return 0x3ff0000000000000;
        default:
            return 1;
    }
}

bool names_local(Op op) {
    return op == Op::LOCAL || op == Op::LOAD_ARRAY || op == Op::LEN_ARRAY || op == Op::LEN64_ARRAY;
}

bool leaves(Op op) {
    return op == Op::BREAK || op == Op::CONTINUE || op == Op::RETURN || op == Op::TRAP;
}

class Repair {
  public:
    explicit Repair(Code& code) : code_(code), visible_(code.locals.size()) {
        for (std::size_t i = 0; i < code.locals.size(); ++i)
            visible_[i] = code.locals[i].form == Local::Form::Argument;
    }

    void run() {
        block(code_.root, false);
        if (code_.result != kNone) expression(code_.result);
    }

  private:
    void block(BlockId id, bool in_loop) {
        if (id >= code_.blocks.size()) return;
        std::vector<StmtId> kept;
        std::vector<std::uint32_t> declared;
        for (const StmtId s : code_.blocks[id]) {
            if (!statement(code_.stmts[s], in_loop, declared)) continue;
            kept.push_back(s);
            if (leaves(code_.stmts[s].op)) break;
        }
        // The result of a function may use variables that its root block declares.
        if (id != code_.root)
            for (const std::uint32_t local : declared) visible_[local] = false;
        code_.blocks[id] = std::move(kept);
    }

    bool statement(const Stmt& s, bool in_loop, std::vector<std::uint32_t>& declared) {
        const bool changes =
            s.op == Op::ASSIGN || s.op == Op::ASSIGN_COMPONENT || s.op == Op::STORE_ARRAY;
        if (changes && !visible_[s.local]) return false;
        if (!in_loop && (s.op == Op::BREAK || s.op == Op::CONTINUE)) return false;
        for (const ExprId arg : s.args)
            if (arg != kNone) expression(arg);
        const bool loop = s.op == Op::FOR || s.op == Op::WHILE;
        const bool declares = s.local != kNone && !changes;
        if (declares) visible_[s.local] = true;
        block(s.body, in_loop || loop);
        block(s.otherwise, in_loop);
        if (declares && loop) visible_[s.local] = false;
        if (declares && !loop) declared.push_back(s.local);
        return true;
    }

    void expression(ExprId id) {
        const Expr e = code_.exprs[id];
        if (names_local(e.op) && !visible_[e.extra]) {
            make_constant(code_, id, false);
            return;
        }
        for (std::uint32_t i = 0; i < e.count; ++i) expression(code_.operands[e.first + i]);
    }

    Code& code_;
    std::vector<bool> visible_;
};

}  // namespace

std::vector<Code*> codes(Program& program) {
    std::vector<Code*> out;
    for (Function& f : program.functions) out.push_back(&f.code);
    out.push_back(&program.main);
    return out;
}

std::size_t code_count(const Program& program) { return program.functions.size() + 1; }

void make_constant(Code& code, ExprId id, bool one) {
    const Type type = code.exprs[id].type;
    Expr literal;
    literal.op = Op::LITERAL;
    literal.imm = type.component().code();
    literal.type = type.component();
    literal.extra = one ? one_bits(type.kind) : 0;
    if (type.scalar()) {
        code.exprs[id] = literal;
        return;
    }
    code.exprs.push_back(literal);
    code.operands.push_back(static_cast<ExprId>(code.exprs.size() - 1));
    Expr& splat = code.exprs[id];
    splat.op = Op::SPLAT;
    splat.imm = type.code();
    splat.first = static_cast<std::uint32_t>(code.operands.size() - 1);
    splat.count = 1;
    splat.extra = 0;
}

bool is_constant(const Code& code, ExprId id) {
    const Expr& e = code.exprs[id];
    return e.op == Op::LITERAL ||
           (e.op == Op::SPLAT && code.exprs[code.operands_of(e)[0]].op == Op::LITERAL);
}

void repair(Code& code) { Repair(code).run(); }

bool unwrap(Code& code, BlockId block, std::size_t at, bool otherwise) {
    const StmtId id = code.blocks[block][at];
    Stmt& s = code.stmts[id];
    if (s.op != Op::IF && s.op != Op::FOR && s.op != Op::WHILE) return false;
    if (otherwise && (s.op != Op::IF || code.blocks[s.otherwise].empty())) return false;
    std::vector<StmtId> parts = code.blocks[otherwise ? s.otherwise : s.body];
    if (s.op == Op::FOR) {  // becomes a `let` with the counter's first value
        s.op = Op::LET;
        s.args[1] = s.args[2] = kNone;
        s.body = kNone;
        code.locals[s.local].form = Local::Form::Let;
        parts.insert(parts.begin(), id);
    }
    auto& into = code.blocks[block];
    into.erase(into.begin() + static_cast<std::ptrdiff_t>(at));
    into.insert(into.begin() + static_cast<std::ptrdiff_t>(at), parts.begin(), parts.end());
    repair(code);
    return true;
}

namespace {

// Copies an expression tree of `from` to the end of `code`. `leaf` may change the copy of a node;
// if it returns true, the operands of the node are not copied.
using Leaf = std::function<bool(Expr&)>;
Expr copy(Code& code, const Code& from, ExprId id, const Leaf& leaf) {
    Expr e = from.exprs[id];
    if (leaf(e)) return e;
    std::vector<ExprId> operands;
    for (std::uint32_t i = 0; i < e.count; ++i) {
        const Expr operand = copy(code, from, from.operands[e.first + i], leaf);
        code.exprs.push_back(operand);
        operands.push_back(static_cast<ExprId>(code.exprs.size() - 1));
    }
    e.first = static_cast<std::uint32_t>(code.operands.size());
    code.operands.insert(code.operands.end(), operands.begin(), operands.end());
    return e;
}

}  // namespace

bool inline_call(Program& program, Code& code, ExprId id) {
    const Expr call = code.exprs[id];
    if (call.op != Op::CALL) return false;
    const Code& body = program.functions[call.imm].code;
    if (!body.blocks[body.root].empty()) return false;
    code.exprs[id] = copy(code, body, body.result, [&](Expr& e) {
        if (e.op != Op::LOCAL) return false;
        e = code.exprs[code.operands[call.first + static_cast<std::uint32_t>(e.extra)]];
        return true;
    });
    return true;
}

bool inline_let(Code& code, BlockId block, std::size_t at) {
    const Stmt s = code.stmts[code.blocks[block][at]];
    if (s.op != Op::LET || op_effect(code.exprs[s.args[0]].op)) return false;
    const std::size_t known = code.exprs.size();
    for (ExprId id = 0; id < known; ++id)
        if (code.exprs[id].op == Op::LOCAL && code.exprs[id].extra == s.local) {
            const Expr value = copy(code, code, s.args[0], [](Expr&) { return false; });
            code.exprs[id] = value;
        }
    auto& from = code.blocks[block];
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
    return true;
}

}  // namespace differential
