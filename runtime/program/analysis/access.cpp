// SPDX-License-Identifier: Apache-2.0
#include "program/analysis/access.hpp"

namespace wye::ir::detail {

std::vector<ExprId> let_values(const Code& code) {
    std::vector<ExprId> values(code.locals.size(), kNone);
    for (const Stmt& s : code.stmts)
        if (s.op == Op::LET && !op_effect(code.exprs[s.args[0]].op)) values[s.local] = s.args[0];
    return values;
}

const Expr& resolve(const Code& code, const std::vector<ExprId>& lets, ExprId id) {
    const Expr* e = &code.exprs[id];
    while (e->op == Op::LOCAL && lets[e->extra] != kNone) e = &code.exprs[lets[e->extra]];
    return *e;
}

std::vector<std::vector<bool>> function_reads(const Program& program) {
    std::vector<std::vector<bool>> reads;
    for (const Function& f : program.functions) {
        std::vector<bool> mine(program.buffers.size());
        for (const Expr& e : f.code.exprs) {
            if (e.op == Op::LOAD) mine[e.imm] = true;
            if (e.op != Op::CALL) continue;
            const std::vector<bool>& callee = reads[e.imm];
            for (std::size_t k = 0; k < callee.size(); ++k) mine[k] = mine[k] || callee[k];
        }
        reads.push_back(std::move(mine));
    }
    return reads;
}

bool is_builtin(const Code& code, const std::vector<ExprId>& lets, ExprId id, unsigned builtin,
                unsigned axis) {
    const Expr* e = &resolve(code, lets, id);
    // u64 and i64 hold every u32, but i32 does not.
    while (e->op == Op::CONVERT && e->type.integer() && e->type.scalar() && e->type != kI32 &&
           code.exprs[code.operands_of(*e)[0]].type.integer())
        e = &resolve(code, lets, code.operands_of(*e)[0]);
    if (builtin == WYE_BUILTIN_LOCAL_INDEX) return e->op == Op::BUILTIN && e->imm == builtin;
    if (e->op != Op::COMPONENT || e->imm != axis) return false;
    const Expr& vector = resolve(code, lets, code.operands_of(*e)[0]);
    return vector.op == Op::BUILTIN && vector.imm == builtin;
}

}  // namespace wye::ir::detail
