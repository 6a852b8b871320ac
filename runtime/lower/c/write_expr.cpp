// SPDX-License-Identifier: Apache-2.0
//
// Writes expressions. Expressions are pure and total, so any part may be computed before its
// statement.
#include <algorithm>

#include "lower/c/writer.hpp"
#include "lower/passes/byte_moves.hpp"

namespace wye::lower {

using ir::Kind;
using ir::Op;

template class middle::Walk<CWriter, std::string>;

std::string CWriter::leaf(const middle::Leaf& leaf) {
    if (leaf.outer) return outer(*leaf.outer, static_cast<std::uint32_t>(leaf.bits));
    module_.use_type(leaf.kind);
    // An instruction has room for the upper word of an f64 literal, or for the address of a
    // constant, but not for a whole f64. So f64 literals with a lower word are read from a constant
    // array.
    if (code_.math_definition && leaf.kind == Kind::F64 && (leaf.bits & 0xffffffffU) != 0 &&
        module_.spelling.addresses_constants()) {
        const auto at = std::ranges::find(constants_, leaf.bits);
        const std::string index = std::to_string(at - constants_.begin());
        if (at == constants_.end()) constants_.push_back(leaf.bits);
        return constants_name() + "[" + index + "]";
    }
    return module_.literal(leaf.kind, leaf.bits);
}

CValue CWriter::local(const ir::Expr& e) {
    CValue v;
    v.lanes = e.type.lanes;
    for (unsigned k = 0; k < v.lanes; ++k)
        v.c[k] = local_name(static_cast<std::uint32_t>(e.extra), k);
    return v;
}

std::string CWriter::any_or_all(Op op, const CValue& v) {
    std::string text = "(" + v.c[0];
    for (unsigned k = 1; k < v.lanes; ++k) text += (op == Op::ANY ? " || " : " && ") + v.c[k];
    return text + ")";
}

std::string CWriter::bits(Kind from, Kind to, const std::string& text) {
    const bool floating = ir::Type{from, 1}.floating();
    if (floating == ir::Type{to, 1}.floating()) return text;
    return floating ? module_.intrinsic(Intrinsic::FloatBits, from, text)
                    : module_.intrinsic(Intrinsic::BitsFloat, to, text);
}

// Writes an expression that only moves bytes, of at least three operations, as one instruction if
// the dialect has such an instruction. Returns false if nothing was written.
bool CWriter::moved_bytes(ir::ExprId id, CValue& v) {
    if (code_.exprs[id].op != Op::OR) return false;
    const auto moves = byte_moves(code_, id);
    if (!moves || moves->operations < 3) return false;
    const std::string text = module_.spelling.move_bytes(value(moves->word).c[0], moves->from);
    if (text.empty()) return false;
    v.c[0] = text;
    v.depth = 1;
    return true;
}

// Writes, as a branch, a select with accesses that are in range only if their arm is taken.
CValue CWriter::branch(const ir::Expr& e) {
    const auto ids = code_.operands_of(e);
    const std::string type(module_.use_type(e.type.kind));
    CValue v;
    v.lanes = e.type.lanes;
    const CValue condition = value(ids[0]);
    for (unsigned k = 0; k < v.lanes; ++k) {
        v.c[k] = "t" + std::to_string(temporaries_++);
        line(type + " " + v.c[k] + ";");
    }
    line("if (" + bare(condition.c[0]) + ") {");
    for (const unsigned arm : {1U, 2U}) {
        ++indent_;
        const CValue taken = value(ids[arm]);
        for (unsigned k = 0; k < v.lanes; ++k) line(v.c[k] + " = " + bare(taken.c[k]) + ";");
        --indent_;
        line(arm == 1 ? "} else {" : "}");
    }
    return v;
}

CValue CWriter::call(const ir::Expr& e) {
    const ir::Function& callee = program_.functions[e.imm];
    CValue v;
    std::vector<std::string> arguments;
    for (const ir::ExprId id : code_.operands_of(e)) {
        const CValue argument = value(id);
        v.depth = std::max(v.depth, argument.depth + 1);
        for (unsigned k = 0; k < argument.lanes; ++k) arguments.push_back(bare(argument.c[k]));
    }
    for (const Outer& needed : module_.functions[e.imm].outer)
        arguments.push_back(outer(needed.kind, needed.index));
    v.lanes = callee.type.lanes;
    v.c[0] = lower::call("f" + std::to_string(e.imm), arguments);
    if (v.lanes == 1) return v;
    const std::string result = "t" + std::to_string(temporaries_++);
    line("const " + module_.vector_struct(callee.type) + " " + result + " = " + v.c[0] + ";");
    for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = result + "." + "xyzw"[k];
    v.depth = 0;
    return v;
}

}  // namespace wye::lower
