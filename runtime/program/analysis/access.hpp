// SPDX-License-Identifier: Apache-2.0
//
// Helpers that look up facts in code, shared by the analyses. For valid programs; pure.
#pragma once

#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::ir::detail {

// For each local of main: the value of a `let` without effect, or kNone for other locals.
[[nodiscard]] std::vector<ExprId> let_values(const Code& code);

// Follows a chain of `let` names to the expression that it stands for.
[[nodiscard]] const Expr& resolve(const Code& code, const std::vector<ExprId>& lets, ExprId id);

// For each function: the buffers that it reads, itself or through calls.
[[nodiscard]] std::vector<std::vector<bool>> function_reads(const Program& program);

// Whether an expression is component `axis` of a built-in value (axis 0 for scalar ones), possibly
// converted to another integer type that can hold it.
[[nodiscard]] bool is_builtin(const Code& code, const std::vector<ExprId>& lets, ExprId id,
                              unsigned builtin, unsigned axis);

// Calls visit(const Expr&) for every node below and including `root`.
template <typename Visit>
void each_node(const Code& code, ExprId root, Visit visit) {
    if (root == kNone) return;
    std::vector<ExprId> open{root};
    while (!open.empty()) {
        const Expr& e = code.exprs[open.back()];
        open.pop_back();
        visit(e);
        for (const ExprId operand : code.operands_of(e)) open.push_back(operand);
    }
}

// Calls visit(const Stmt&) for every statement of a block in text order.
template <typename Visit>
void each_statement(const Code& code, BlockId id, Visit visit) {
    if (id == kNone) return;
    for (const StmtId s : code.blocks[id]) {
        visit(code.stmts[s]);
        each_statement(code, code.stmts[s].body, visit);
        each_statement(code, code.stmts[s].otherwise, visit);
    }
}

}  // namespace wye::ir::detail
