// SPDX-License-Identifier: Apache-2.0
#include "lower/middle/whole.hpp"

#include "lower/analysis/barrier_data.hpp"
#include "wye/program_format.h"

namespace wye::lower {
namespace {

using ir::Op;

constexpr unsigned kMostStatements = 32;

// Follows lets of main's top level to the expression that they stand for.
ir::ExprId behind_lets(const ir::Code& main, ir::ExprId id) {
    for (bool found = true; found && main.exprs[id].op == Op::LOCAL;) {
        found = false;
        for (const ir::StmtId s : main.blocks[main.root]) {
            const ir::Stmt& let = main.stmts[s];
            if (let.op != Op::LET || let.local != main.exprs[id].extra) continue;
            id = let.args[0];
            found = true;
            break;
        }
    }
    return id;
}

bool axis_of(const ir::Code& main, ir::ExprId id, unsigned& axis) {
    const ir::Expr& e = main.exprs[behind_lets(main, id)];
    if (e.op != Op::COMPONENT) return false;
    const ir::Expr& vector = main.exprs[main.operands_of(e)[0]];
    axis = e.imm;
    return vector.op == Op::BUILTIN && vector.imm == WYE_BUILTIN_GLOBAL_ID;
}

bool uniform(const ir::Code& main, ir::ExprId id) {
    const Op op = main.exprs[behind_lets(main, id)].op;
    return op == Op::LEN || op == Op::PARAM || op == Op::LITERAL;
}

bool collect(const ir::Code& main, ir::ExprId id, std::vector<WholeGuard>& out) {
    const ir::Expr& e = main.exprs[id];
    if (e.op == Op::LOGICAL_AND)
        return collect(main, main.operands_of(e)[0], out) &&
               collect(main, main.operands_of(e)[1], out);
    if (e.op != Op::LT && e.op != Op::GT) return false;
    const ir::ExprId low = main.operands_of(e)[e.op == Op::LT ? 0 : 1];
    const ir::ExprId high = main.operands_of(e)[e.op == Op::LT ? 1 : 0];
    WholeGuard guard{0, high};
    if (!axis_of(main, low, guard.axis) || !uniform(main, high)) return false;
    out.push_back(guard);
    return true;
}

// Whether the code has no loops, barriers and jumps.
bool plain(const ir::Code& main, ir::BlockId block, unsigned& statements) {
    for (const ir::StmtId id : main.blocks[block]) {
        const ir::Stmt& s = main.stmts[id];
        if (++statements > kMostStatements) return false;
        switch (s.op) {
            case Op::LET:
            case Op::VAR:
            case Op::VAR_ZERO:
            case Op::ASSIGN:
            case Op::ASSIGN_COMPONENT:
            case Op::STORE:
                break;
            case Op::IF:
                if (!plain(main, s.body, statements)) return false;
                if (s.otherwise != ir::kNone && !plain(main, s.otherwise, statements)) return false;
                break;
            default:
                return false;
        }
        for (const ir::ExprId e : s.args)
            if (e != ir::kNone && ir::op_effect(main.exprs[e].op)) return false;
    }
    return true;
}

}  // namespace

std::vector<WholeGuard> whole_guards(const ir::Program& program, const ir::Stmt& s) {
    const ir::Code& main = program.main;
    std::vector<WholeGuard> out;
    if (holds_barrier(main, main.root)) return out;
    unsigned statements = 0;
    if (!plain(main, s.body, statements) || !collect(main, s.args[0], out)) out.clear();
    return out;
}

}  // namespace wye::lower
