// SPDX-License-Identifier: Apache-2.0
#include "lower/quirks/powers.hpp"

#include <cstdint>

namespace wye::lower {
namespace {

using ir::Op;

// A set of variables: bit n % 64 stands for local n.
using Variables = std::uint64_t;

// The maximum number of passes over the code. A pass follows values in the order of the text. In a
// loop, an assignment may give a value to an earlier use, which takes one more pass.
constexpr unsigned kMostPasses = 8;

// Whether the compiler writes the operation as a polynomial of its operands, or as one of the
// operands.
bool transparent(Op op) {
    switch (op) {
        case Op::ADD:
        case Op::SUB:
        case Op::MUL:
        case Op::NEG:
        case Op::NOT:
        case Op::SHL:
        case Op::MIN:
        case Op::MAX:
        case Op::CLAMP:
        case Op::SELECT:
        case Op::CONVERT:
        case Op::BITCAST:
        case Op::SPLAT:
        case Op::CONSTRUCT:
        case Op::COMPONENT:
        case Op::CALL:
            return true;
        default:
            return false;
    }
}

}  // namespace

Powers::Powers(const ir::Code& code) {
    std::vector<Variables> locals(code.locals.size());
    const auto is_variable = [&](std::size_t local) {
        locals[local] = Variables{1} << (local % 64);
    };
    for (std::size_t i = 0; i < locals.size(); ++i)
        if (code.locals[i].form == ir::Local::Form::Argument) is_variable(i);
    for (const ir::Stmt& s : code.stmts)
        if (s.op == Op::ASSIGN || s.op == Op::ASSIGN_COMPONENT) is_variable(s.local);
    std::vector<Variables> exprs(code.exprs.size());
    // By expression: the local that gets its value.
    std::vector<std::uint32_t> given(exprs.size(), ir::kNone);
    for (const ir::Stmt& s : code.stmts)
        if (s.op == Op::LET || s.op == Op::VAR || s.op == Op::ASSIGN ||
            s.op == Op::ASSIGN_COMPONENT)
            given[s.args[0]] = s.local;
    bool more = true;
    for (unsigned pass = 0; pass < kMostPasses && more; ++pass) {
        more = false;
        for (ir::ExprId id = 0; id < exprs.size(); ++id) {
            const ir::Expr& e = code.exprs[id];
            if (e.op == Op::LOCAL) exprs[id] = locals[static_cast<std::size_t>(e.extra)];
            if (transparent(e.op))
                for (const ir::ExprId part : code.operands_of(e)) exprs[id] |= exprs[part];
            if (given[id] == ir::kNone || (exprs[id] & ~locals[given[id]]) == 0) continue;
            locals[given[id]] |= exprs[id];
            more = true;
        }
    }
    for (ir::ExprId id = 0; id < exprs.size(); ++id) {
        const ir::Expr& e = code.exprs[id];
        if (e.op != Op::MUL || !e.type.integer()) continue;
        const auto parts = code.operands_of(e);
        if ((exprs[parts[0]] & exprs[parts[1]]) == 0) continue;
        found_.resize(exprs.size());
        found_[id] = true;
    }
}

}  // namespace wye::lower
