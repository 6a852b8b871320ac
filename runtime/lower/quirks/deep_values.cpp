// SPDX-License-Identifier: Apache-2.0
#include "lower/quirks/deep_values.hpp"

#include <algorithm>

#include "lower/middle/leaves.hpp"
#include "wye/program_format.h"

namespace wye::lower {
namespace {

using ir::Op;

constexpr unsigned kMany = 256;
// The number of paths assumed for a variable. A value that uses two variables reaches kMany and so
// counts as deep: the paths through variables are never multiplied.
constexpr unsigned kVariable = kMany / 2;
constexpr unsigned kInside = 8;  // number of paths through an operation of several instructions

// Whether an operation is one instruction that uses each operand once.
bool single(Op op) {
    switch (op) {
        case Op::ADD:
        case Op::SUB:
        case Op::MUL:
        case Op::AND:
        case Op::OR:
        case Op::XOR:
        case Op::NOT:
        case Op::SHL:
        case Op::SHR:
        case Op::NEG:
        case Op::ABS:
        case Op::EQ:
        case Op::NE:
        case Op::LT:
        case Op::LE:
        case Op::GT:
        case Op::GE:
        case Op::LOGICAL_NOT:
        case Op::LOGICAL_AND:
        case Op::LOGICAL_OR:
        case Op::SELECT:
        case Op::BITCAST:
        case Op::CONSTRUCT:
        case Op::SPLAT:
        case Op::COMPONENT:
            return true;
        default:
            return false;
    }
}

}  // namespace

DeepValues::DeepValues(const ir::Code& code) : code_(code), locals_(code.locals.size()) {
    for (std::size_t i = 0; i < code.locals.size(); ++i)
        if (code.locals[i].form != ir::Local::Form::For) locals_[i].ways = kVariable;
    for (const ir::Stmt& s : code.stmts)  // in text order, since a let precedes its uses
        if (s.op == Op::LET) locals_[s.local] = walk(s.args[0]);
}

bool DeepValues::deep(ir::ExprId id) const { return walk(id).ways >= kMany; }

bool DeepValues::same(ir::ExprId id) const {
    const Walk found = walk(id);
    return found.same && found.ways > 1;
}

DeepValues::Walk DeepValues::walk(ir::ExprId id) const {
    const ir::Expr& e = code_.exprs[id];
    if (middle::is_leaf(e.op)) return {};
    switch (e.op) {
        case Op::BUILTIN:
            return {1, e.imm != WYE_BUILTIN_LOCAL_ID && e.imm != WYE_BUILTIN_GLOBAL_ID &&
                           e.imm != WYE_BUILTIN_LOCAL_INDEX};
        case Op::LOAD:
            return {1, false};
        case Op::LOCAL:
            return locals_[static_cast<std::size_t>(e.extra)];
        case Op::LOAD_ARRAY:
            return {kVariable, true};
        case Op::CALL:
            return {kMany, true};
        default:
            break;
    }
    if (ir::op_effect(e.op)) return {1, false};
    // The driver visits the operands of an operation until it finds one that is not uniform. At
    // worst, it has visited all uniform operands by then.
    Walk out;
    unsigned through = 0;
    for (const ir::ExprId part : code_.operands_of(e)) {
        const Walk inner = walk(part);
        out.same = out.same && inner.same;
        if (inner.same)
            out.ways += inner.ways;
        else
            through = std::max(through, inner.ways);
    }
    out.ways += through;
    if (!single(e.op)) out.ways = out.same ? kMany : out.ways * kInside;
    out.ways = std::min(out.ways, kMany);
    return out;
}

}  // namespace wye::lower
