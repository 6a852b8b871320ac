// SPDX-License-Identifier: Apache-2.0
//
// A loop spins if its exit depends only on writable memory, and the loop itself changes neither
// that memory nor a variable from one iteration to the next. A loop that cannot be judged counts as
// one that does not spin.
#include "program/check/spinning.hpp"

#include <algorithm>
#include <vector>

namespace wye::ir::detail {
namespace {

class Spin {
  public:
    Spin(const Program& program, const Code& code)
        : program_(program), code_(code), assigned_(code.locals.size()) {}

    std::string run(const Stmt& loop) {
        collect(loop.body);
        decides(loop.args[0]);
        exits(loop.body, {});
        if (progress_ || foreign_ == kNone) return {};
        return program_.buffers[foreign_].name;
    }

  private:
    // Collects the assignments of the body, and notes statements that count as progress.
    void collect(BlockId id) {
        if (id == kNone) return;
        for (const StmtId sid : code_.blocks[id]) {
            const Stmt& s = code_.stmts[sid];
            const bool values = s.op == Op::LET || s.op == Op::VAR || s.op == Op::ASSIGN;
            if (values) assigned_[s.local].push_back(s.args[0]);
            // Inner loops, arrays and components are not analysed, stores change memory, and
            // barriers let other invocations go on: all count as progress.
            if (s.op == Op::FOR || s.op == Op::WHILE || s.op == Op::STORE ||
                s.op == Op::STORE_ARRAY || s.op == Op::ASSIGN_COMPONENT || s.op == Op::BARRIER ||
                s.op == Op::GRID_BARRIER)
                progress_ = true;
            for (const ExprId e : s.args)
                if (e != kNone) effect(code_.exprs[e]);
            collect(s.body);
            collect(s.otherwise);
        }
    }

    // Notes effects as progress, except atomic loads and attempts to take a lock, which store a
    // fixed value.
    void effect(const Expr& e) {
        if (!op_effect(e.op) || e.op == Op::ATOMIC_LOAD) return;
        const bool attempt = e.op == Op::ATOMIC_CAS || e.op == Op::ATOMIC_EXCHANGE;
        const auto operands = code_.operands_of(e);
        const bool fixed =
            std::all_of(operands.begin() + (operands.empty() ? 0 : 1), operands.end(),
                        [&](ExprId id) { return code_.exprs[id].op == Op::LITERAL; });
        if (!attempt || !fixed) progress_ = true;
    }

    // Finds the conditions under which the body leaves the loop.
    void exits(BlockId id, std::vector<ExprId> conditions) {
        if (id == kNone) return;
        for (const StmtId sid : code_.blocks[id]) {
            const Stmt& s = code_.stmts[sid];
            if (s.op == Op::BREAK || s.op == Op::RETURN || s.op == Op::TRAP) {
                if (conditions.empty()) progress_ = true;
                for (const ExprId c : conditions) decides(c);
            }
            if (s.op != Op::IF) continue;
            conditions.push_back(s.args[0]);
            exits(s.body, conditions);
            exits(s.otherwise, conditions);
            conditions.pop_back();
        }
    }

    // Follows a value that decides an exit to its sources.
    void decides(ExprId root) {
        std::vector<ExprId> open{root};
        std::vector<bool> seen(code_.locals.size());
        while (!open.empty() && !progress_) {
            const Expr& e = code_.exprs[open.back()];
            open.pop_back();
            if (e.op == Op::LOAD && role_writable(program_.buffers[e.imm].role)) foreign_ = e.imm;
            if (op_effect(e.op)) {
                if (op_atomic(e.op))
                    foreign_ = e.imm;
                else
                    progress_ = true;
                continue;
            }
            if (e.op == Op::LOAD_ARRAY) progress_ = true;
            if (e.op == Op::LOCAL && !seen[e.extra]) {
                seen[e.extra] = true;
                for (const ExprId value : assigned_[e.extra]) {
                    if (reads(value, static_cast<std::uint32_t>(e.extra))) progress_ = true;
                    open.push_back(value);
                }
            }
            for (const ExprId operand : code_.operands_of(e)) open.push_back(operand);
        }
    }

    // Whether a value depends on `local`, directly or not, so that it may change from one iteration
    // to the next.
    bool reads(ExprId root, std::uint32_t local) {
        std::vector<ExprId> open{root};
        std::vector<bool> seen(code_.locals.size());
        while (!open.empty()) {
            const Expr& e = code_.exprs[open.back()];
            open.pop_back();
            if (op_effect(e.op)) continue;
            if (e.op == Op::LOCAL) {
                if (e.extra == local) return true;
                if (!seen[e.extra]) {
                    seen[e.extra] = true;
                    for (const ExprId value : assigned_[e.extra]) open.push_back(value);
                }
            }
            for (const ExprId operand : code_.operands_of(e)) open.push_back(operand);
        }
        return false;
    }

    const Program& program_;
    const Code& code_;
    std::vector<std::vector<ExprId>> assigned_;  // by local: what the body assigns
    std::uint32_t foreign_ = kNone;              // the buffer whose contents decide an exit
    bool progress_ = false;
};

}  // namespace

std::string spins_on(const Program& program, const Code& code, const Stmt& loop) {
    return Spin(program, code).run(loop);
}

}  // namespace wye::ir::detail
