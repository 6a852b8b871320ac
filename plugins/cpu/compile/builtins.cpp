// SPDX-License-Identifier: Apache-2.0
//
// Compiler, part 2: built-in values. The runner sets a few scalars for each block; all other values
// are computed from these scalars where the program uses the values.
#include "cpu/compile/compiler.hpp"

namespace wye::cpu {

Value Compiler::coordinate(std::uint32_t& slot) {
    if (slot == kNoSlot) slot = outside_scalar()->number();
    Value value;
    value.form = Value::Form::Scalar;
    value.num = Num::U32;
    value.held = std::make_shared<const Register>(nullptr, slot, 1, false);
    return value;
}

Value Compiler::affine(std::uint32_t& slot) {
    Value value = coordinate(slot);
    value.form = Value::Form::Affine;
    return value;
}

Value Compiler::coordinate_lanes(unsigned axis) {
    if (!coordinate_lanes_[axis]) {
        const std::uint64_t bytes = std::uint64_t{code_.lanes} * 4;
        coordinate_lanes_[axis] = std::make_shared<const Register>(
            lane_room_.get(), lane_room_->take(bytes, kTile, true), bytes, false);
        code_.coordinates.lanes[axis] = coordinate_lanes_[axis]->number();
    }
    return result(Num::U32, coordinate_lanes_[axis]);
}

Value Compiler::global_id(unsigned axis) {
    auto& slot = code_.coordinates.global[axis];
    switch (options_.geometry) {
        case Geometry::Row:
            return axis == 0 ? affine(slot) : coordinate(slot);
        case Geometry::Flat:
            return coordinate_lanes(axis);
        case Geometry::Group:
            break;
    }
    // The scalar that the runner sets is the id of lane 0.
    const Value local = local_id(axis);
    if (local.uniform()) return coordinate(slot);
    if (local.affine()) return affine(slot);
    return binary(Binary::Add, local, coordinate(slot));
}

Value Compiler::local_id(unsigned axis) {
    const auto& size = options_.workgroup;
    if (size[axis] == 1) return constant(Num::U32, 0);
    if (options_.geometry == Geometry::Group) {
        const bool only = size[(axis + 1) % 3] == 1 && size[(axis + 2) % 3] == 1;
        return only ? local_index() : coordinate_lanes(axis);
    }
    if (options_.geometry == Geometry::Row && axis != 0)
        return coordinate(code_.coordinates.local[axis]);
    const std::uint32_t w = size[axis];
    const Value id = to_lanes(global_id(axis));
    if ((w & (w - 1)) == 0) return binary(Binary::And, id, constant(Num::U32, w - 1));
    return binary(Binary::Rem, id, constant(Num::U32, w));
}

Value Compiler::workgroup_id(unsigned axis) {
    const bool uniform =
        options_.geometry == Geometry::Group || (options_.geometry == Geometry::Row && axis != 0);
    if (uniform) return coordinate(code_.coordinates.workgroup[axis]);
    const std::uint32_t w = options_.workgroup[axis];
    if (w == 1) return global_id(axis);
    const Value id = to_lanes(global_id(axis));
    if ((w & (w - 1)) != 0) return binary(Binary::Div, id, constant(Num::U32, w));
    std::uint32_t shift = 0;
    while ((1U << shift) < w) ++shift;
    return binary(Binary::Shr, id, constant(Num::U32, shift));
}

Value Compiler::local_index() {
    if (options_.geometry == Geometry::Group) {
        Value value = constant(Num::U32, 0);
        value.form = Value::Form::Affine;
        value.held = std::make_shared<const Register>(nullptr, scalar_constant(0), 1, false);
        return value;
    }
    const auto& size = options_.workgroup;
    const Value rows = binary(Binary::Mul, local_id(2), constant(Num::U32, size[1]));
    const Value row = binary(Binary::Add, rows, local_id(1));
    const Value before = binary(Binary::Mul, row, constant(Num::U32, size[0]));
    return binary(Binary::Add, before, local_id(0));
}

Values Compiler::builtin(std::uint32_t index) {
    Values out;
    if (index == WYE_BUILTIN_LOCAL_INDEX) return local_index();
    if (index >= WYE_BUILTIN_SUBGROUP_SIZE) return subgroup_builtin(index);
    for (unsigned axis = 0; axis < 3; ++axis) {
        switch (index) {
            case WYE_BUILTIN_WORKGROUP_ID:
                out.add(workgroup_id(axis));
                break;
            case WYE_BUILTIN_LOCAL_ID:
                out.add(local_id(axis));
                break;
            case WYE_BUILTIN_GLOBAL_ID:
                out.add(global_id(axis));
                break;
            case WYE_BUILTIN_NUM_WORKGROUPS:
                out.add(coordinate(code_.coordinates.counts[axis]));
                break;
            default:
                out.add(constant(Num::U32, options_.workgroup[axis]));
                break;
        }
    }
    return out;
}

}  // namespace wye::cpu
