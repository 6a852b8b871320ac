// SPDX-License-Identifier: Apache-2.0
//
// Writes expressions. Expressions are pure and total, so both arms of a select are computed. A
// select becomes a branch only if an access in an arm is in range only when that arm is taken.
#include <algorithm>

#include "lower/spirv/words.hpp"
#include "lower/spirv/writer.hpp"

namespace wye::lower {

using ir::Kind;
using ir::Op;

template class middle::Walk<SpirvWriter, Id>;

// For the quirk `mesa-one-beside-zero`: hides floats that were converted from integers.
void SpirvWriter::hide_result(const ir::Expr& e, SpirvValue& v) {
    if (e.op != Op::CONVERT && e.op != Op::BITCAST) return;
    const ir::ExprId from = code_.operands_of(e)[0];
    if (!e.type.floating() || !code_.exprs[from].type.integer() ||
        !context_.quirk(Quirk::MesaOneBesideZero) || launch_values_.unknown(from))
        return;
    for (unsigned k = 0; k < v.lanes; ++k) v.c[k] = b_.differing(e.type.kind, v.c[k]);
}

// Writes, as a branch, a select with accesses that are in range only if their arm is taken.
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

Id SpirvWriter::any_or_all(Op op, const SpirvValue& v) {
    Id made = v.c[0];
    for (unsigned k = 1; k < v.lanes; ++k)
        made = op == Op::ANY ? b_.either(made, v.c[k]) : b_.both(made, v.c[k]);
    return made;
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
