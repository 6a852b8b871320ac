// SPDX-License-Identifier: Apache-2.0
//
// Writes ballots and atomic operations. Atomic operations are relaxed, and have device scope for
// buffers and workgroup scope for `shared`. With an index out of range they do nothing and yield
// zero.
#include "lower/spirv/words.hpp"
#include "lower/spirv/writer.hpp"

namespace wye::lower {
namespace {

using ir::Kind;
using ir::Op;

}  // namespace

void SpirvWriter::ballot(SpirvValue& v, Id condition) {
    module_.capability(spv::Capability::GroupNonUniform);
    module_.capability(spv::Capability::GroupNonUniformBallot);
    const Id word = module_.int_type(32);
    const Id bits = b_.make(spv::Op::OpGroupNonUniformBallot, module_.vector_type(word, 4),
                            {b_.u32(code(spv::Scope::Subgroup)), condition});
    for (unsigned k = 0; k < 4; ++k) v.c[k] = b_.extract(bits, word, k);
}

Id SpirvWriter::atomic(ir::ExprId id, bool) {
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
    Id old = 0;
    Id last = 0;
    when(at.ok, [&] {
        old = run();
        last = b_.here();
    });
    if (old == 0) return 0;
    return b_.make(spv::Op::OpPhi, module_.value_type(type.kind),
                   {zero(type.kind), before, old, last});
}

// Writes the operation. Returns the old value of the element, or 0 for a store.
Id SpirvWriter::atomic_operation(Op op, const middle::Array& form, Id pointer,
                                 std::span<const Id> operands) {
    const bool is_shared = form.space == middle::Space::Shared;
    const Id scope = b_.u32(code(is_shared ? spv::Scope::Workgroup : spv::Scope::Device));
    const Id relaxed = b_.u32(code(spv::MemorySemanticsMask::MaskNone));
    const Id type = module_.value_type(form.type.kind);
    if (form.type.floating()) return float_add(form, pointer, operands[0]);
    const bool is_signed = form.type.signed_integer();
    switch (op) {
        case Op::ATOMIC_LOAD:
            return b_.make(spv::Op::OpAtomicLoad, type, {pointer, scope, relaxed});
        case Op::ATOMIC_STORE:
            b_.act(spv::Op::OpAtomicStore, {pointer, scope, relaxed, operands[0]});
            return 0;
        case Op::ATOMIC_CAS:  // takes the new value before the expected one
            return b_.make(spv::Op::OpAtomicCompareExchange, type,
                           {pointer, scope, relaxed, relaxed, operands[1], operands[0]});
        default:
            break;
    }
    using enum spv::Op;
    static constexpr spv::Op kHow[][2] = {// from ATOMIC_EXCHANGE; unsigned, signed
                                          {OpAtomicExchange, OpAtomicExchange},
                                          {OpAtomicIAdd, OpAtomicIAdd},
                                          {OpAtomicUMin, OpAtomicSMin},
                                          {OpAtomicUMax, OpAtomicSMax},
                                          {OpAtomicAnd, OpAtomicAnd},
                                          {OpAtomicOr, OpAtomicOr},
                                          {OpAtomicXor, OpAtomicXor}};
    const auto number =
        static_cast<std::size_t>(op) - static_cast<std::size_t>(Op::ATOMIC_EXCHANGE);
    return b_.make(kHow[number][is_signed ? 1 : 0], type, {pointer, scope, relaxed, operands[0]});
}

// Adds to a float: by the native addition if there is one, else by a compare-and-swap loop.
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
    const Loop loop = open_loop(false);
    const Id found = module_.typed(module_.fresh(), bits);
    const Id expected = counter(loop, first, found);
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
    close(loop);
    return b_.bits_float(kind, found);
}

}  // namespace wye::lower
