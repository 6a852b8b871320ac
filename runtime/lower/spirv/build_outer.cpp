// SPDX-License-Identifier: Apache-2.0
//
// Makes the values that come from outside a function: lengths, parameters, workgroup and invocation
// ids.
#include "lower/spirv/builder.hpp"

namespace wye::lower {
using ir::Kind;

Id SpirvBuilder::block_member(SpirvContext::Slot slot, std::uint32_t index) {
    const std::uint32_t member = context.member(slot, index);
    const Id type = context.member_type(member);
    const Id at[] = {u32(member)};
    return load(type, pointer(context.block_storage(), type, context.block(), at));
}

// Returns one word of a 64-bit member. Word 0 is the low word.
Id SpirvBuilder::block_word(SpirvContext::Slot slot, std::uint32_t index, unsigned word) {
    const Id type = module.int_type(32);
    const Id at[] = {u32(context.member(slot, index)), u32(word)};
    return load(type, pointer(context.block_storage(), type, context.block(), at));
}

Id SpirvBuilder::make_outer(Outer what, std::uint32_t index) {
    using Slot = SpirvContext::Slot;
    const Id word = module.int_type(32);
    const Id three_words = module.vector_type(word, 3);
    switch (what) {
        case Outer::LengthLow:
            return block_word(Slot::Length, index, 0);
        case Outer::LengthHigh:
            return block_word(Slot::Length, index, 1);
        case Outer::Length:
            return select(test(spv::Op::OpIEqual, outer(Outer::LengthHigh, index), u32(0)),
                          outer(Outer::LengthLow, index), u32(0xffffffffU));
        case Outer::SignedLength: {
            const Id length = outer(Outer::Length, index);
            const Id half = u32(0x80000000U);
            return select(test(spv::Op::OpULessThan, length, half), length, half);
        }
        case Outer::Length64:
            return join_words(outer(Outer::LengthLow, index), outer(Outer::LengthHigh, index));
        case Outer::Param: {
            const ir::Type type = context.program.params[index].type;
            if (type.bytes() != 8) return block_member(Slot::Param, index);
            const Id wide =
                join_words(block_word(Slot::Param, index, 0), block_word(Slot::Param, index, 1));
            return bitcast(wide, module.value_type(type.kind));
        }
        case Outer::Grid:
            return block_member(Slot::Grid, index);
        case Outer::OpaqueZero:
            if (index == 0) return block_word(Slot::OpaqueZero, 0, 0);
            return op(spv::Op::OpBitwiseAnd, block_word(Slot::OpaqueZero, 0, 0),
                      block_word(Slot::OpaqueZero, 0, 1));
        case Outer::OpaqueZero64:
            if (index == 0)
                return join_words(block_word(Slot::OpaqueZero, 0, 0),
                                  block_word(Slot::OpaqueZero, 0, 1));
            return join_words(outer(Outer::OpaqueZero, 1), outer(Outer::OpaqueZero, 1));
        case Outer::WorkgroupInput:
            return load(three_words, context.input(spv::BuiltIn::WorkgroupId, 3));
        case Outer::LocalInput:
            return load(three_words, context.input(spv::BuiltIn::LocalInvocationId, 3));
        case Outer::CountInput:
            return load(three_words, context.input(spv::BuiltIn::NumWorkgroups, 3));
        case Outer::WorkgroupId:
            return workgroup_id(index);
        case Outer::LocalId:
            return local_id(index);
        case Outer::NumWorkgroups:
            if (context.folded_grid) return outer(Outer::Grid, 3 + index);
            return extract(outer(Outer::CountInput), word, index);
        case Outer::GlobalId: {
            const Id first = op(spv::Op::OpIMul, outer(Outer::WorkgroupId, index),
                                u32(context.workgroup[index]));
            return op(spv::Op::OpIAdd, first, outer(Outer::LocalId, index));
        }
        case Outer::LocalIndex:
            return local_index();
        case Outer::LaneZero:
            return op(spv::Op::OpShiftRightLogical, extract(outer(Outer::CountInput), word, 0),
                      u32(31));
        case Outer::SubgroupId:
            module.capability(spv::Capability::GroupNonUniform);
            return load(word, context.input(spv::BuiltIn::SubgroupId, 1));
        case Outer::SubgroupLane: {
            module.capability(spv::Capability::GroupNonUniform);
            const Id lane = load(word, context.input(spv::BuiltIn::SubgroupLocalInvocationId, 1));
            return quirk(Quirk::LlvmpipeKnownLane) ? differing(Kind::U32, lane) : lane;
        }
        case Outer::Linear:
            return linear();
        case Outer::Buffer:
        case Outer::Shared:
        case Outer::Trap:
            break;
    }
    return 0;
}

// A folded grid numbers its workgroups in one row, starting at the logical workgroup given by the
// offset.
Id SpirvBuilder::linear() {
    const Id word = module.int_type(32);
    const auto row = [&](Id x, Id y, Id z, Id columns, Id rows) {
        const Id inner = op(spv::Op::OpIAdd, resize(y, 64),
                            op(spv::Op::OpIMul, resize(rows, 64), resize(z, 64)));
        return op(spv::Op::OpIAdd, resize(x, 64), op(spv::Op::OpIMul, resize(columns, 64), inner));
    };
    const Id group = outer(Outer::WorkgroupInput);
    const Id count = outer(Outer::CountInput);
    const Id hardware =
        row(extract(group, word, 0), extract(group, word, 1), extract(group, word, 2),
            extract(count, word, 0), extract(count, word, 1));
    const Id offset = row(outer(Outer::Grid, 0), outer(Outer::Grid, 1), outer(Outer::Grid, 2),
                          outer(Outer::Grid, 3), outer(Outer::Grid, 4));
    return op(spv::Op::OpIAdd, hardware, offset);
}

Id SpirvBuilder::workgroup_id(unsigned axis) {
    if (!context.folded_grid)
        return extract(outer(Outer::WorkgroupInput), module.int_type(32), axis);
    // Workgroups that do not return at once have a number below 2^32. Surplus workgroups return
    // before they use the id.
    const Id number = low_word(outer(Outer::Linear));
    const Id columns = outer(Outer::Grid, 3);
    if (axis == 0) return op(spv::Op::OpUMod, number, columns);
    const Id row = op(spv::Op::OpUDiv, number, columns);
    return op(axis == 1 ? spv::Op::OpUMod : spv::Op::OpUDiv, row, outer(Outer::Grid, 4));
}

// Programs with subgroups run in workgroups of one axis. Their local ids follow from the subgroup
// and the lane, so that the ids do not depend on a driver's mapping of invocations to lanes.
Id SpirvBuilder::local_id(unsigned axis) {
    if (context.subgroup == 0) return extract(outer(Outer::LocalInput), module.int_type(32), axis);
    const auto& size = context.workgroup;
    Id id = outer(Outer::LocalIndex);
    const std::uint32_t below = axis == 0 ? 1 : axis == 1 ? size[0] : size[0] * size[1];
    if (below != 1) id = op(spv::Op::OpUDiv, id, u32(below));
    return axis == 2 ? id : op(spv::Op::OpUMod, id, u32(size[axis]));
}

Id SpirvBuilder::local_index() {
    if (context.subgroup != 0)
        return op(spv::Op::OpIAdd,
                  op(spv::Op::OpIMul, outer(Outer::SubgroupId), u32(context.subgroup)),
                  outer(Outer::SubgroupLane));
    Id sum = 0;
    std::uint32_t stride = 1;
    for (unsigned axis = 0; axis < 3; ++axis) {
        if (context.workgroup[axis] > 1) {
            Id part = outer(Outer::LocalId, axis);
            if (stride != 1) part = op(spv::Op::OpIMul, part, u32(stride));
            sum = sum == 0 ? part : op(spv::Op::OpIAdd, sum, part);
        }
        stride *= context.workgroup[axis];
    }
    return sum == 0 ? u32(0) : sum;
}

}  // namespace wye::lower
