// SPDX-License-Identifier: Apache-2.0
//
// Expressions. They are pure and total, so any part may be named before its statement.
#include <algorithm>

#include "lower/c/writer.hpp"
#include "lower/passes/byte_moves.hpp"

namespace wye::lower {
namespace {

using ir::Kind;
using ir::Op;

// Each operation nests a few parentheses at most. Compilers fail at 256.
constexpr unsigned kMaxDepth = 16;

}  // namespace

CValue CWriter::value(ir::ExprId id) {
    const ir::Expr& e = code_.exprs[id];
    CValue v;
    if (middle::is_leaf(e.op)) {
        v.c[0] = text_of(middle::leaf_of(program_, code_, e));
        return v;
    }
    switch (e.op) {
        case Op::LOCAL:
            return local(e);
        case Op::BUILTIN:
            return built_in(e, ~0U);
        case Op::LOAD:
        case Op::LOAD_TABLE:
        case Op::LOAD_ARRAY:
            v = load(form_.access(id));
            break;
        case Op::CALL:
            v = call(e);
            break;
        case Op::COMPONENT:
            v = component(e);
            break;
        case Op::CONVERT:
            if (!hide_value(id, v)) v = conversion(e);
            break;
        case Op::BITCAST:
            v = bitcast(e);
            break;
        default:
            if (moved_bytes(id, v) || hide_value(id, v)) break;
            v = form_.branches(id) ? branch(e) : operation(e);
            break;
    }
    if (v.depth > kMaxDepth) settle(v, e.type);
    return v;
}

std::string CWriter::text_of(const middle::Leaf& leaf) {
    if (leaf.outer) return outer(*leaf.outer, static_cast<std::uint32_t>(leaf.bits));
    module_.use_type(leaf.kind);
    return module_.literal(leaf.kind, leaf.bits);
}

CValue CWriter::local(const ir::Expr& e) {
    CValue v;
    v.lanes = e.type.lanes;
    for (unsigned k = 0; k < v.lanes; ++k)
        v.c[k] = local_name(static_cast<std::uint32_t>(e.extra), k);
    return v;
}

// Writes the components in `wanted` (one bit each). The others stay empty and count as unused.
CValue CWriter::built_in(const ir::Expr& e, unsigned wanted) {
    CValue v;
    v.lanes = e.type.lanes;
    const middle::Sizes sizes{module_.workgroup, module_.subgroup};
    for (unsigned k = 0; k < v.lanes; ++k)
        if ((wanted >> k & 1U) != 0) v.c[k] = text_of(middle::built_in(e.imm, k, sizes));
    return v;
}

CValue CWriter::component(const ir::Expr& e) {
    const ir::ExprId from_id = code_.operands_of(e)[0];
    const ir::Expr& from = code_.exprs[from_id];
    CValue v = from.op == Op::BUILTIN ? built_in(from, 1U << e.imm) : value(from_id);
    v.c[0] = v.c[e.imm];
    v.lanes = 1;
    return v;
}

CValue CWriter::operation(const ir::Expr& e) {
    const auto ids = code_.operands_of(e);
    std::vector<CValue> operands;
    operands.reserve(4);
    CValue v;
    v.lanes = e.type.lanes;
    for (const ir::ExprId id : ids) {
        operands.push_back(operand(e.op, id));
        v.depth = std::max(v.depth, operands.back().depth + 1);
    }
    hide_constants(e.op, ids, operands);
    const Op op = e.op == Op::DIV && by_reciprocal(ids[1], operands[1]) ? Op::MUL : e.op;
    const ir::Type first = code_.exprs[ids[0]].type;
    switch (op) {
        case Op::CONSTRUCT:
            for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = operands[k].c[0];
            return v;
        case Op::SPLAT: {
            const std::string one = atom(first.kind, operands[0].c[0]);
            for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = one;
            return v;
        }
        case Op::SELECT: {
            const bool one = operands[0].lanes == 1;
            if (one && v.lanes > 1) operands[0].c[0] = atom(Kind::BOOL, operands[0].c[0]);
            for (unsigned k = 0; k < v.lanes; ++k)
                v.c[k] = "(" + operands[0].c[one ? 0 : k] + " ? " + operands[1].c[k] + " : " +
                         operands[2].c[k] + ")";
            return v;
        }
        case Op::ANY:
        case Op::ALL:
            v.c[0] = "(" + operands[0].c[0];
            for (unsigned k = 1; k < first.lanes; ++k)
                v.c[0] += (e.op == Op::ANY ? " || " : " && ") + operands[0].c[k];
            v.c[0] += ")";
            return v;
        default:
            break;
    }
    for (unsigned k = 0; k < v.lanes; ++k) {
        std::array<std::string, 4> parts;
        for (std::size_t i = 0; i < operands.size(); ++i) {
            std::string& part = operands[i].c[operands[i].lanes == 1 ? 0 : k];
            if (v.lanes == 1)
                parts[i] = std::move(part);
            else
                parts[i] = part;
        }
        v.c[k] = scalar_operation(module_, op, first.kind, std::span(parts).first(operands.size()));
    }
    return v;
}

// Writes an expression that only moves bytes, of at least three operations, as one instruction if
// the dialect has it. Returns false if it wrote nothing.
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

// Writes a select whose accesses are in range only in the arm that is taken, as a branch.
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

CValue CWriter::conversion(const ir::Expr& e) {
    const ir::ExprId from = code_.operands_of(e)[0];
    CValue v = value(from);
    const middle::FormKey key = middle::conversion(code_.exprs[from].type.kind, e.type.kind);
    if (code_.exprs[from].type.kind == Kind::F64 && e.type.kind == Kind::F32) hide_f64(v);
    for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = c_form(module_, key, v.c[k]);
    ++v.depth;
    return v;
}

CValue CWriter::bitcast(const ir::Expr& e) {
    const ir::ExprId from_id = code_.operands_of(e)[0];
    const ir::Type from = code_.exprs[from_id].type;
    const ir::Type to = e.type;
    const middle::Bitcast cast = form_.bitcast(e);
    CValue v = value(from_id);
    v.depth += 2;
    if (cast.plain()) {
        if (from.floating() == to.floating()) return v;
        const auto what = from.floating() ? Intrinsic::FloatBits : Intrinsic::BitsFloat;
        for (unsigned k = 0; k < v.lanes; ++k) {
            if (cast.canonical != middle::kNoKey) v.c[k] = c_form(module_, cast.canonical, v.c[k]);
            v.c[k] = module_.intrinsic(what, from.floating() ? from.kind : to.kind, v.c[k]);
        }
        return v;
    }
    if (to.kind == Kind::F16 && module_.facts.quirks.has(Quirk::PtxasHalfOfAChoice) &&
        code_.exprs[from_id].op != Op::LITERAL && !launch_values_.unknown(from_id))
        v.c[0] = "(" + v.c[0] + " | " + late_zero(ir::kU32) + ")";
    if (to.lanes > 1) v.c[0] = atom(from.kind, v.c[0]);
    const std::array<std::string, 4> operands = v.c;
    for (unsigned k = to.lanes; k-- > 0;)
        v.c[k] = c_form(module_, cast.parts[k], std::span(operands).first(from.lanes));
    v.lanes = to.lanes;
    return v;
}

CValue CWriter::call(const ir::Expr& e) {
    const ir::Function& callee = program_.functions[e.imm];
    CModule::Function& written = module_.functions[e.imm];
    CValue v;
    std::string text = "f" + std::to_string(e.imm) + "(";
    bool first = true;
    const auto add = [&](const std::string& argument) {
        text += (first ? "" : ", ") + argument;
        first = false;
    };
    for (const ir::ExprId id : code_.operands_of(e)) {
        const CValue argument = value(id);
        v.depth = std::max(v.depth, argument.depth + 1);
        for (unsigned k = 0; k < argument.lanes; ++k) add(bare(argument.c[k]));
    }
    for (const Outer& needed : written.outer) add(outer(needed.kind, needed.index));
    text += ")";
    v.lanes = callee.type.lanes;
    if (v.lanes == 1) {
        v.c[0] = text;
        return v;
    }
    const std::string result = "t" + std::to_string(temporaries_++);
    line("const " + module_.vector_struct(callee.type) + " " + result + " = " + text + ";");
    for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = result + "." + "xyzw"[k];
    v.depth = 0;
    return v;
}

}  // namespace wye::lower
