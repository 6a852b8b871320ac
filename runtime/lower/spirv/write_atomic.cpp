// SPDX-License-Identifier: Apache-2.0
//
// Writes effects. Atomics are relaxed, and have device scope for buffers and workgroup scope for
// `shared`. Out of range they do nothing and yield zero.
#include "lower/spirv/words.hpp"
#include "lower/spirv/writer.hpp"

namespace wye::lower {
namespace {

using ir::Kind;
using ir::Op;

}  // namespace

SpirvValue SpirvWriter::subgroup(const ir::Expr& e) {
    const auto ids = code_.operands_of(e);
    std::array<Id, 2> operands{};
    std::size_t count = 0;
    for (const ir::ExprId id : ids) operands[count++] = value(id).c[0];
    SpirvValue v;
    v.lanes = e.type.lanes;
    if (e.op == Op::SUBGROUP_BALLOT) {
        module_.capability(spv::Capability::GroupNonUniform);
        module_.capability(spv::Capability::GroupNonUniformBallot);
        const Id word = module_.int_type(32);
        const Id bits = b_.make(spv::Op::OpGroupNonUniformBallot, module_.vector_type(word, 4),
                                {b_.u32(code(spv::Scope::Subgroup)), operands[0]});
        for (unsigned k = 0; k < 4; ++k) v.c[k] = b_.extract(bits, word, k);
        return v;
    }
    if (e.op == Op::SUBGROUP_INCLUSIVE_ADD || e.op == Op::SUBGROUP_EXCLUSIVE_ADD)
        operands[count++] = b_.outer(SpirvBuilder::Outer::SubgroupLane);
    const middle::FormKey key = middle::subgroup(e.op, code_.exprs[ids[0]].type.kind);
    v.c[0] = spirv_form(b_, key, std::span(operands).first(count));
    return v;
}

SpirvValue SpirvWriter::effect(ir::ExprId id) {
    const ir::Expr& e = code_.exprs[id];
    SpirvValue v;
    if (ir::op_atomic(e.op)) {
        v.c[0] = atomic(id);
        return v;
    }
    if (e.op == Op::WORKGROUP_UNIFORM_LOAD) {
        b_.barrier();
        v = load(form_.access(id));
        b_.barrier();
        return v;
    }
    return subgroup(e);
}

Id SpirvWriter::atomic(ir::ExprId id) {
    const ir::Expr& e = code_.exprs[id];
    const middle::Access access = form_.access(id);
    const SpirvArray array = held(access.array);
    const ir::Type type = array.form->type;
    if (type.integer() && type.bits() == 64) module_.capability(spv::Capability::Int64Atomics);
    const Index at = index(access);
    std::vector<Id> operands;
    for (const ir::ExprId operand : code_.operands_of(e).subspan(1))
        operands.push_back(value(operand).c[0]);
    const auto run = [&] {
        return atomic_operation(e.op, *array.form, element(array, at.at, 0), operands);
    };
    if (access.check == middle::Access::Check::None) return run();

    const Id before = b_.here();
    const Id inside = module_.fresh();
    const Id after = module_.fresh();
    b_.selection(at.ok, inside, after, after);
    b_.open(inside);
    const Id old = run();
    const Id last = b_.here();
    b_.branch(after);
    b_.open(after);
    if (old == 0) return 0;
    return b_.make(spv::Op::OpPhi, module_.value_type(type.kind),
                   {zero(type.kind), before, old, last});
}

// Writes the operation. Returns its old value, or 0 for a store.
Id SpirvWriter::atomic_operation(Op op, const middle::Array& form, Id pointer,
                                 std::span<const Id> operands) {
    const bool is_shared = form.space == middle::Space::Shared;
    const Id scope = b_.u32(code(is_shared ? spv::Scope::Workgroup : spv::Scope::Device));
    const Id relaxed = b_.u32(code(spv::MemorySemanticsMask::MaskNone));
    const Id type = module_.value_type(form.type.kind);
    const auto modify = [&](spv::Op what) {
        return b_.make(what, type, {pointer, scope, relaxed, operands[0]});
    };
    if (form.type.floating()) return float_add(form, pointer, operands[0]);
    const bool is_signed = form.type.signed_integer();
    switch (op) {
        case Op::ATOMIC_LOAD:
            return b_.make(spv::Op::OpAtomicLoad, type, {pointer, scope, relaxed});
        case Op::ATOMIC_STORE:
            b_.act(spv::Op::OpAtomicStore, {pointer, scope, relaxed, operands[0]});
            return 0;
        case Op::ATOMIC_EXCHANGE:
            return modify(spv::Op::OpAtomicExchange);
        case Op::ATOMIC_ADD:
            return modify(spv::Op::OpAtomicIAdd);
        case Op::ATOMIC_MIN:
            return modify(is_signed ? spv::Op::OpAtomicSMin : spv::Op::OpAtomicUMin);
        case Op::ATOMIC_MAX:
            return modify(is_signed ? spv::Op::OpAtomicSMax : spv::Op::OpAtomicUMax);
        case Op::ATOMIC_AND:
            return modify(spv::Op::OpAtomicAnd);
        case Op::ATOMIC_OR:
            return modify(spv::Op::OpAtomicOr);
        case Op::ATOMIC_XOR:
            return modify(spv::Op::OpAtomicXor);
        default:  // ATOMIC_CAS takes the new value before the expected one
            return b_.make(spv::Op::OpAtomicCompareExchange, type,
                           {pointer, scope, relaxed, relaxed, operands[1], operands[0]});
    }
}

// Adds to a float without a native addition, by a compare-and-swap loop.
Id SpirvWriter::float_add(const middle::Array& form, Id pointer, Id operand) {
    const Kind kind = form.type.kind;
    const bool is_shared = form.space == middle::Space::Shared;
    const Id scope = b_.u32(code(is_shared ? spv::Scope::Workgroup : spv::Scope::Device));
    const Id relaxed = b_.u32(code(spv::MemorySemanticsMask::MaskNone));
    const bool wide = kind == Kind::F64;
    if (!form.adds_in_loop) {
        module_.capability(
            wide ? spv::Capability::AtomicFloat64AddEXT : spv::Capability::AtomicFloat32AddEXT,
            "SPV_EXT_shader_atomic_float_add");
        return b_.make(spv::Op::OpAtomicFAddEXT, module_.value_type(kind),
                       {pointer, scope, relaxed, operand});
    }
    if (wide) module_.capability(spv::Capability::Int64Atomics);
    const Id bits = b_.bits_type(kind);
    const Id first = b_.make(spv::Op::OpAtomicLoad, bits, {pointer, scope, relaxed});
    const Loop loop{module_.fresh(), module_.fresh(), watch()};
    const Id before = b_.here();
    const Id header = module_.fresh();
    const Id found = module_.typed(module_.fresh(), bits);
    b_.branch(header);
    b_.open(header);
    const Id expected = b_.make(spv::Op::OpPhi, bits, {first, before, found, loop.next});
    const Id parts[] = {expected, operand};
    const Id sum = spirv_form(b_, middle::added_bits(kind), parts);
    b_.act(spv::Op::OpAtomicCompareExchange,
           {bits, found, pointer, scope, relaxed, relaxed, sum, expected});
    const Id done = b_.test(spv::Op::OpIEqual, found, expected);
    b_.act(spv::Op::OpLoopMerge, {loop.merge, loop.next, code(spv::LoopControlMask::MaskNone)});
    const Id out = way_out(loop);
    b_.branch(done, out, loop.next);
    leave(loop, out);
    b_.open(loop.next);
    b_.branch(header);
    close(loop);
    return b_.bits_float(kind, found);
}

}  // namespace wye::lower
