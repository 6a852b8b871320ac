// SPDX-License-Identifier: Apache-2.0
#include "lower/quirks/negations.hpp"

#include <algorithm>

namespace wye::lower {

using ir::Op;

Negations::Negations(const ir::Program& program, const ir::Code& code)
    : program_(program), code_(code), locals_(code.locals.size(), true) {
    for (const ir::Stmt& s : code.stmts)  // in text order, since a let precedes its uses
        if (s.op == Op::LET) locals_[s.local] = possible(s.args[0]);
}

bool Negations::possible(ir::ExprId id) const {
    const ir::Expr& e = code_.exprs[id];
    switch (e.op) {
        case Op::LITERAL:
        case Op::PARAM:
        case Op::BUILTIN:
        case Op::LEN:
        case Op::AND:
        case Op::OR:
        case Op::XOR:
        case Op::SHR:
        case Op::MIN:
        case Op::MAX:
        case Op::CLAMP:
            return false;
        case Op::LOAD:  // the compiler may know the value that was stored
            return ir::role_writable(program_.buffers[e.imm].role);
        case Op::LOCAL:
            return locals_[static_cast<std::size_t>(e.extra)];
        case Op::SPLAT:
        case Op::COMPONENT:
        case Op::CONSTRUCT: {
            const auto parts = code_.operands_of(e);
            return std::any_of(parts.begin(), parts.end(),
                               [&](ir::ExprId part) { return possible(part); });
        }
        default:
            return true;
    }
}

}  // namespace wye::lower
