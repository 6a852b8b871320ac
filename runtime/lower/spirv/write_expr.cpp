// SPDX-License-Identifier: Apache-2.0
//
// Writes expressions. They are pure and total, so only guarded selects are branches.
#include <algorithm>

#include "lower/spirv/words.hpp"
#include "lower/spirv/writer.hpp"

namespace wye::lower {
namespace {

using ir::Kind;
using ir::Op;

}  // namespace

SpirvValue SpirvWriter::value(ir::ExprId id) {
    const ir::Expr& e = code_.exprs[id];
    const auto ids = code_.operands_of(e);
    if (middle::is_leaf(e.op)) return {.c = {b_.leaf(middle::leaf_of(source_.program, code_, e))}};
    switch (e.op) {
        case Op::LOCAL:
            return local(e);
        case Op::BUILTIN:
            return built_in(e, ~0U);
        case Op::LOAD:
        case Op::LOAD_TABLE:
        case Op::LOAD_ARRAY:
            return load(form_.access(id));
        case Op::CALL:
            return call(e);
        case Op::COMPONENT:
            return component(e);
        case Op::CONVERT: {
            SpirvValue v = value(ids[0]);
            const middle::FormKey key =
                middle::conversion(code_.exprs[ids[0]].type.kind, e.type.kind);
            for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = spirv_form(b_, key, v.c[k]);
            hide_one(e.type, ids[0], v);
            return v;
        }
        case Op::BITCAST: {
            SpirvValue v = bitcast(e);
            hide_one(e.type, ids[0], v);
            return v;
        }
        default:
            return form_.branches(id) ? branch(e) : operation(e);
    }
}

// For the quirk `mesa-one-beside-zero`: hides `v`, which was converted from the integers `from`.
void SpirvWriter::hide_one(ir::Type to, ir::ExprId from, SpirvValue& v) {
    if (!to.floating() || !code_.exprs[from].type.integer() ||
        !context_.quirk(Quirk::MesaOneBesideZero) || launch_values_.unknown(from))
        return;
    for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = b_.differing(to.kind, v.c[k]);
}

// Writes a select whose accesses are in range only in the arm that is taken, as a branch.
SpirvValue SpirvWriter::branch(const ir::Expr& e) {
    const auto ids = code_.operands_of(e);
    const Id condition = value(ids[0]).c[0];
    const Id labels[2] = {module_.fresh(), module_.fresh()};
    const Id merge = module_.fresh();
    Id from[2] = {0, 0};
    SpirvValue arms[2];
    b_.selection(condition, labels[0], labels[1], merge);
    for (const unsigned arm : {0U, 1U}) {
        b_.open(labels[arm]);
        arms[arm] = value(ids[1 + arm]);
        for (Id& lane : arms[arm].c)
            if (lane != 0) lane = b_.not_one(lane);
        from[arm] = b_.here();
        b_.branch(merge);
    }
    b_.open(merge);
    SpirvValue v;
    v.lanes = e.type.lanes;
    for (unsigned k = 0; k < v.lanes; ++k)
        v.c[k] = b_.make(spv::Op::OpPhi, module_.type_of(arms[0].c[k]),
                         {arms[0].c[k], from[0], arms[1].c[k], from[1]});
    return v;
}

SpirvValue SpirvWriter::local(const ir::Expr& e) {
    const auto local = static_cast<std::uint32_t>(e.extra);
    SpirvValue v = locals_[local];
    if (code_.locals[local].form != ir::Local::Form::Var) return v;
    for (unsigned k = 0; k < v.lanes; ++k)
        v.c[k] = b_.load(module_.value_type(e.type.kind), v.c[k]);
    return v;
}

// Makes the components in `wanted` (one bit each). The others stay empty and count as unused.
SpirvValue SpirvWriter::built_in(const ir::Expr& e, unsigned wanted) {
    SpirvValue v;
    v.lanes = e.type.lanes;
    const middle::Sizes sizes{context_.workgroup, context_.subgroup};
    for (unsigned k = 0; k < v.lanes; ++k)
        if ((wanted >> k & 1U) != 0) v.c[k] = b_.leaf(middle::built_in(e.imm, k, sizes));
    return v;
}

SpirvValue SpirvWriter::component(const ir::Expr& e) {
    const ir::ExprId from_id = code_.operands_of(e)[0];
    const ir::Expr& from = code_.exprs[from_id];
    SpirvValue v = from.op == Op::BUILTIN ? built_in(from, 1U << e.imm) : value(from_id);
    v.c[0] = v.c[e.imm];
    v.lanes = 1;
    return v;
}

SpirvValue SpirvWriter::operation(const ir::Expr& e) {
    const auto ids = code_.operands_of(e);
    std::array<SpirvValue, 4> operands;  // no operation has more
    for (std::size_t i = 0; i < ids.size(); ++i) operands[i] = value(ids[i]);
    const ir::Type first = code_.exprs[ids[0]].type;
    SpirvValue v;
    v.lanes = e.type.lanes;
    const auto part = [&](std::size_t operand, unsigned lane) {
        const SpirvValue& from = operands[operand];
        return from.c[from.lanes == 1 ? 0 : lane];
    };
    switch (e.op) {
        case Op::CONSTRUCT:
            for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = operands[k].c[0];
            return v;
        case Op::SPLAT:
            for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = operands[0].c[0];
            return v;
        case Op::SELECT:
            for (unsigned k = 0; k < v.lanes; ++k)
                v.c[k] = b_.select(part(0, k), part(1, k), part(2, k));
            return v;
        case Op::ANY:
        case Op::ALL:
            v.c[0] = operands[0].c[0];
            for (unsigned k = 1; k < first.lanes; ++k)
                v.c[0] =
                    e.op == Op::ANY ? b_.either(v.c[0], part(0, k)) : b_.both(v.c[0], part(0, k));
            return v;
        default:
            break;
    }
    for (unsigned k = 0; k < v.lanes; ++k) {
        std::array<Id, 3> parts{};
        const std::size_t count = std::min(parts.size(), ids.size());
        for (std::size_t i = 0; i < count; ++i) parts[i] = part(i, k);
        v.c[k] = spirv_operation(b_, e.op, first.kind, std::span(parts.data(), count));
    }
    return v;
}

SpirvValue SpirvWriter::bitcast(const ir::Expr& e) {
    const middle::Bitcast cast = form_.bitcast(e);
    const SpirvValue from = value(code_.operands_of(e)[0]);
    SpirvValue v;
    v.lanes = e.type.lanes;
    for (unsigned k = 0; k < v.lanes; ++k) {
        if (!cast.plain()) {
            v.c[k] = spirv_form(b_, cast.parts[k], std::span(from.c).first(from.lanes));
            continue;
        }
        Id given = from.c[k];
        if (cast.canonical != middle::kNoKey) given = spirv_form(b_, cast.canonical, given);
        v.c[k] = b_.bitcast(given, module_.value_type(e.type.kind));
    }
    return v;
}

SpirvValue SpirvWriter::call(const ir::Expr& e) {
    const ir::Function& callee = source_.program.functions[e.imm];
    Words operands{spirv_function(context_, source_, e.imm)};
    for (const ir::ExprId id : code_.operands_of(e)) {
        const SpirvValue argument = value(id);
        for (unsigned k = 0; k < argument.lanes; ++k) operands.push_back(b_.not_one(argument.c[k]));
    }
    SpirvValue v;
    v.lanes = callee.type.lanes;
    const Id component = module_.value_type(callee.type.kind);
    if (v.lanes == 1) {
        v.c[0] = b_.make(spv::Op::OpFunctionCall, component, operands);
        return v;
    }
    const Id whole =
        b_.make(spv::Op::OpFunctionCall, module_.vector_type(component, v.lanes), operands);
    for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = b_.extract(whole, component, k);
    return v;
}

}  // namespace wye::lower
