// SPDX-License-Identifier: Apache-2.0
#include "lower/passes/open_loop.hpp"

namespace wye::lower {
namespace {

using ir::Op;

class BodyLook {
  public:
    BodyLook(const ir::Program& program, const ir::Code& code) : program_(program), code_(code) {}

    void statement(const ir::Stmt& s) {
        switch (s.op) {
            case Op::STORE:
            case Op::STORE_ARRAY:
                out.writes = true;
                break;
            case Op::LET:
            case Op::VAR:
            case Op::VAR_ZERO:
            case Op::ASSIGN:
            case Op::ASSIGN_COMPONENT:
            case Op::EFFECT:
                break;
            default:
                out.straight = false;
        }
        for (const ir::ExprId argument : s.args) {
            if (argument == ir::kNone) continue;
            const Op op = code_.exprs[argument].op;
            if (ir::op_effect(op)) {
                out.writes = true;
                out.straight = out.straight && ir::op_atomic(op);
            }
            expression(argument);
        }
    }

    LoopBody out;

  private:
    void expression(ir::ExprId id) {
        const ir::Expr& e = code_.exprs[id];
        ++out.nodes;
        if (e.op == Op::LOAD && !program_.buffers[e.imm].shared()) out.loads = true;
        if (e.op == Op::CALL) out.nodes += program_.functions[e.imm].code.exprs.size();
        for (const ir::ExprId operand : code_.operands_of(e)) expression(operand);
    }

    const ir::Program& program_;
    const ir::Code& code_;
};

}  // namespace

LoopBody loop_body(const ir::Program& program, const ir::Code& code, ir::BlockId body) {
    BodyLook look(program, code);
    for (const ir::StmtId each : code.blocks[body]) look.statement(code.stmts[each]);
    return look.out;
}

}  // namespace wye::lower
