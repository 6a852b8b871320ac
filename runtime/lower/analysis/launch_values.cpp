// SPDX-License-Identifier: Apache-2.0
#include "lower/analysis/launch_values.hpp"

#include <algorithm>

#include "lower/analysis/never_nan.hpp"

namespace wye::lower {

using ir::Op;

LaunchValues::LaunchValues(const ir::Program& program, const ir::Code& code)
    : program_(program), code_(code), locals_(code.locals.size()) {
    for (const ir::Stmt& s : code.stmts)  // in text order, since a let precedes its uses
        if (s.op == Op::LET) locals_[s.local] = unknown(s.args[0]);
}

bool LaunchValues::unknown(ir::ExprId id) const {
    const ir::Expr& e = code_.exprs[id];
    const auto ids = code_.operands_of(e);
    const auto all = [&] {
        return std::all_of(ids.begin(), ids.end(), [&](ir::ExprId part) { return unknown(part); });
    };
    switch (e.op) {
        case Op::PARAM:
            return true;
        case Op::LOAD:
            return !ir::role_writable(program_.buffers[e.imm].role);
        case Op::LOCAL:
            return locals_[static_cast<std::size_t>(e.extra)];
        case Op::ADD:
        case Op::SUB:
        case Op::MUL:
        case Op::DIV:
            return e.type.floating() &&
                   (all() || (unknown(ids[0]) && plain_literal(code_, ids[1], false)) ||
                    (unknown(ids[1]) && plain_literal(code_, ids[0], false)));
        case Op::NEG:
        case Op::ABS:
        case Op::SQRT:
        case Op::FMA:
        case Op::SPLAT:
        case Op::COMPONENT:
        case Op::CONSTRUCT:
        case Op::CONVERT:
            return e.type.floating() && all();
        default:
            return false;
    }
}

bool plain_literal(const ir::Code& code, ir::ExprId id, bool zero) {
    const ir::Expr& e = code.exprs[id];
    if (e.op == Op::SPLAT || e.op == Op::CONSTRUCT) {
        const auto parts = code.operands_of(e);
        return std::all_of(parts.begin(), parts.end(),
                           [&](ir::ExprId part) { return plain_literal(code, part, zero); });
    }
    if (e.op != Op::LITERAL || !never_nan(code, id)) return false;
    const std::uint64_t sign = std::uint64_t{1} << (e.type.bits() - 1);
    return (e.extra & ~sign) != 0 || (zero && e.extra == 0);
}

}  // namespace wye::lower
