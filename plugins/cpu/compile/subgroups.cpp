// SPDX-License-Identifier: Apache-2.0
//
// Compiler, part 7: subgroup operations. Here a block is a workgroup, and a subgroup is W
// consecutive lanes of it.
#include "cpu/compile/compiler.hpp"

namespace wye::cpu {
namespace {

using ir::Op;

Subgroup kernel_of(Op op) {
    switch (op) {
        case Op::SUBGROUP_BROADCAST:
        case Op::SUBGROUP_SHUFFLE:
            return Subgroup::Shuffle;
        case Op::SUBGROUP_SHUFFLE_XOR:
            return Subgroup::ShuffleXor;
        case Op::SUBGROUP_BALLOT:
            return Subgroup::Ballot;
        case Op::SUBGROUP_ADD:
            return Subgroup::Add;
        case Op::SUBGROUP_MIN:
            return Subgroup::Min;
        case Op::SUBGROUP_MAX:
            return Subgroup::Max;
        case Op::SUBGROUP_INCLUSIVE_ADD:
            return Subgroup::InclusiveAdd;
        case Op::SUBGROUP_EXCLUSIVE_ADD:
            return Subgroup::ExclusiveAdd;
        case Op::SUBGROUP_ALL:
        case Op::SUBGROUP_AND:
            return Subgroup::And;
        case Op::SUBGROUP_ANY:
        case Op::SUBGROUP_OR:
            return Subgroup::Or;
        case Op::SUBGROUP_XOR:
            return Subgroup::Xor;
        default:
            return Subgroup::Count;
    }
}

}  // namespace

// Results go to new registers, never to a variable's register, since lanes read the values of other
// lanes.
Values Compiler::subgroup(Context& cx, const ir::Expr& e) {
    const auto ids = cx.code->operands_of(e);
    const Value value = to_lanes(expr(cx, ids[0])[0]);
    Value from;
    Instr operands;
    operands.a = value.held->number();
    operands.c = options_.subgroup;
    if (ids.size() > 1) {
        from = to_lanes(expr(cx, ids[1])[0]);
        operands.b = from.held->number();
    }
    const Subgroup op = kernel_of(e.op);
    const Kernel kernel =
        op == Subgroup::Count ? nullptr : options_.kernels->subgroup[at(op)][at(value.num)];
    Values out;
    for (std::uint8_t part = 0; part < e.type.lanes; ++part) {
        operands.part = part;
        out.add(emit_lanes(num_of(e.type.kind), kernel, operands, nullptr));
    }
    return out;
}

Value Compiler::subgroup_builtin(std::uint32_t index) {
    const std::uint32_t width = options_.subgroup;
    const auto& size = options_.workgroup;
    std::uint32_t shift = 0;
    while ((1U << shift) < width) ++shift;
    switch (index) {
        case WYE_BUILTIN_SUBGROUP_SIZE:
            return constant(Num::U32, width);
        case WYE_BUILTIN_NUM_SUBGROUPS:
            return constant(Num::U32, size[0] * size[1] * size[2] >> shift);
        case WYE_BUILTIN_SUBGROUP_ID:
            return binary(Binary::Shr, to_lanes(local_index()), constant(Num::U32, shift));
        default:
            return binary(Binary::And, to_lanes(local_index()), constant(Num::U32, width - 1));
    }
}

}  // namespace wye::cpu
