// SPDX-License-Identifier: Apache-2.0
#include "lower/deep_index.hpp"

#include <algorithm>

namespace wye::lower {
namespace {

using ir::Op;

constexpr unsigned kMany = 256;

// Written as one instruction that uses each operand once.
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
        case Op::COMPONENT:
        case Op::CONVERT:
            return true;
        default:
            return false;
    }
}

}  // namespace

DeepIndices::DeepIndices(const ir::Code& code) : code_(code), locals_(code.locals.size(), kMany) {
    for (std::size_t i = 0; i < code.locals.size(); ++i)  // differs from round to round
        if (code.locals[i].form == ir::Local::Form::For) locals_[i] = 1;
    for (const ir::Stmt& s : code.stmts)  // in text order: a let stands before its uses
        if (s.op == Op::LET) locals_[s.local] = ways(s.args[0]);
}

bool DeepIndices::deep(ir::ExprId index) const { return ways(index) >= kMany; }

unsigned DeepIndices::ways(ir::ExprId id) const {
    const ir::Expr& e = code_.exprs[id];
    switch (e.op) {
        case Op::LITERAL:
        case Op::PARAM:
        case Op::BUILTIN:
        case Op::LEN:
        case Op::LEN_TABLE:
        case Op::LEN_ARRAY:
        case Op::LOAD:
            return 1;
        case Op::LOCAL:
            return locals_[static_cast<std::size_t>(e.extra)];
        default:
            break;
    }
    if (!single(e.op) || e.type.floating() || e.type.bits() == 64) return kMany;
    unsigned out = 1;
    for (const ir::ExprId part : code_.operands_of(e)) {
        if (code_.exprs[part].type.floating()) return kMany;
        out = std::min(kMany, out + ways(part));
    }
    return out;
}

}  // namespace wye::lower
