// SPDX-License-Identifier: Apache-2.0
//
// Compiler, part 3: loads, stores, local arrays and atomics, one instruction per component.
#include <algorithm>
#include <limits>

#include "cpu/compile/compiler.hpp"

namespace wye::cpu {
namespace {

Elem elem_of(ir::Kind kind) {
    switch (kind) {
        case ir::Kind::I8:
            return Elem::I8;
        case ir::Kind::U8:
            return Elem::U8;
        case ir::Kind::I16:
            return Elem::I16;
        case ir::Kind::U16:
            return Elem::U16;
        case ir::Kind::I64:
        case ir::Kind::U64:
        case ir::Kind::F64:
            return Elem::W64;
        case ir::Kind::F16:
            return Elem::F16;
        case ir::Kind::BF16:
            return Elem::BF16;
        default:
            return Elem::W32;
    }
}

// The element type for a store. Signed integers are stored like unsigned ones. F32 and F64 make a
// NaN canonical; a value that is never NaN is stored as W32 or W64 instead.
Elem stored(ir::Kind kind, bool never_nan) {
    switch (kind) {
        case ir::Kind::I8:
            return Elem::U8;
        case ir::Kind::I16:
            return Elem::U16;
        case ir::Kind::F32:
            return never_nan ? Elem::W32 : Elem::F32;
        case ir::Kind::F64:
            return never_nan ? Elem::W64 : Elem::F64;
        default:
            return elem_of(kind);
    }
}

Index index_of(Num num) {
    switch (num) {
        case Num::I32:
            return Index::I32;
        case Num::U32:
            return Index::U32;
        default:
            return Index::W64;
    }
}

}  // namespace

Values Compiler::load(std::uint32_t array, ir::Type element, const Value& index,
                      const Targets* targets) {
    const Num num = num_of(element.kind);
    const Elem elem = elem_of(element.kind);
    Values out;
    for (std::uint8_t part = 0; part < element.lanes; ++part) {
        Instr operands;
        operands.array = array;
        operands.stride = element.lanes;
        operands.part = part;
        operands.b = scalar(index);
        if (index.uniform()) {
            const Kernel kernel = scalar_kernels().load[at(elem)][at(index_of(index.num))];
            out.add(emit_scalar(num, kernel, operands));
            continue;
        }
        const bool in_place = index.affine() && targets == nullptr && element.lanes == 1 &&
                              read_only(array) && bytes_of(width_of(num)) == element.bytes();
        if (in_place) {
            out.add(view(num, operands, index));
            continue;
        }
        const Kernel kernel =
            index.affine() ? options_.kernels->load_affine[at(elem)][index.num == Num::I32 ? 1 : 0]
                           : options_.kernels->load[at(elem)][at(index_of(index.num))];
        out.add(
            emit_lanes(num, kernel, operands, targets != nullptr ? &(*targets)[part] : nullptr));
        behind_load_ = here();
    }
    return out;
}

// Whether nothing writes the array while the program runs.
bool Compiler::read_only(std::uint32_t array) const {
    if (array >= program_.buffers.size()) return true;  // a table
    const ir::Role role = program_.buffers[array].role;
    return role == ir::Role::INPUT || role == ir::Role::UNIFORM;
}

// Emits a load that may become a view of the array.
Value Compiler::view(Num num, const Instr& operands, const Value& index) {
    const std::uint32_t bytes = bytes_of(width_of(num));
    const Held held = new_view(std::uint64_t{code_.lanes} * bytes);
    Instr& instr =
        emit(Step::View, options_.kernels->load_affine[at(bytes == 8 ? Elem::W64 : Elem::W32)]
                                                      [index.num == Num::I32 ? 1 : 0]);
    instr.array = operands.array;
    instr.b = operands.b;
    instr.c = bytes;
    instr.i32 = index.num == Num::I32 ? 1 : 0;
    instr.d = held->copy->number();
    instr.target = held->number() & ~kView;
    return result(num, held);
}

// Makes the last instruction write directly to memory, if possible. The instruction must compute a
// value that only this store uses, and must read only registers: an array that it reads might
// overlap the destination.
bool Compiler::make_direct(const Value& value, Elem& elem) {
    if (here() <= fuse_from_ || here() == behind_load_) return false;
    if (value.held.use_count() != 1 || value.held->variable || value.held->room == nullptr)
        return false;
    Instr& last = code_.instrs.back();
    if (last.step != Step::Lanes || last.d != value.held->number()) return false;
    if (elem == Elem::F32 || elem == Elem::F64) {
        const KernelSet& kernels = *options_.kernels;
        const auto* end = kernels.twins + kernels.twin_count;
        const auto* twin = std::find_if(
            kernels.twins, end, [&](const KernelSet::Twin& t) { return t.plain == last.run; });
        if (twin == end) return false;
        last.run = twin->canonical;
        elem = elem == Elem::F32 ? Elem::W32 : Elem::W64;
    } else if (elem != Elem::W32 && elem != Elem::W64) {
        return false;
    }
    last.step = Step::Direct;
    return true;
}

void Compiler::store(std::uint32_t array, ir::Type element, const Value& index, Values values) {
    const Value where = index.uniform() ? to_lanes(index) : index;
    for (std::uint8_t part = 0; part < element.lanes; ++part) {
        Value value = std::move(values[part]);
        if (!value.lanes()) value = to_lanes(value);
        Elem elem = stored(element.kind, value.never_nan);
        const bool direct = where.affine() && element.lanes == 1 && make_direct(value, elem);
        Instr& instr = emit(
            Step::Lanes,
            where.affine() ? options_.kernels->store_affine[at(elem)][where.num == Num::I32 ? 1 : 0]
                           : options_.kernels->store[at(elem)][at(index_of(where.num))]);
        instr.array = array;
        instr.stride = element.lanes;
        instr.part = part;
        instr.a = value.held->number();
        instr.b = where.held->number();
        if (!direct) continue;
        instr.c = element.bytes();
        instr.i32 = where.num == Num::I32 ? 1 : 0;
    }
}

// ---- Local arrays: for each component, one row of lanes for each element ----------------------

Values Compiler::load_local(const LocalArray& array, const Value& index, const Targets* targets) {
    const Num num = num_of(array.type.kind);
    const std::uint64_t row = std::uint64_t{code_.lanes} * bytes_of(width_of(num));
    Values out;
    const Value where = index.affine() ? to_lanes(index) : index;
    for (std::uint8_t part = 0; part < array.type.lanes; ++part) {
        const std::uint64_t first = array.held->at + part * array.count * row;
        const bool known = where.constant() && where.bits < array.count;
        if (known && targets == nullptr) {  // the row itself is the value
            out.add(result(num, std::make_shared<const Register>(nullptr, first + where.bits * row,
                                                                 row, true)));
            continue;
        }
        Instr operands;
        operands.a = static_cast<std::uint32_t>(first);
        operands.b = scalar(where);
        operands.c = array.count;
        const Kernel kernel =
            options_.kernels->load_local[width_of(num) == B8 ? 1 : 0][at(index_of(where.num))]
                                        [where.uniform() ? 1 : 0];
        out.add(
            emit_lanes(num, kernel, operands, targets != nullptr ? &(*targets)[part] : nullptr));
    }
    return out;
}

void Compiler::store_local(const LocalArray& array, const Value& index, const Values& values) {
    const Num num = num_of(array.type.kind);
    const std::uint64_t row = std::uint64_t{code_.lanes} * bytes_of(width_of(num));
    const Value where = index.affine() ? to_lanes(index) : index;
    for (std::uint8_t part = 0; part < array.type.lanes; ++part) {
        const Value value = to_lanes(values[part]);
        Instr& instr =
            emit(Step::Lanes, options_.kernels->store_local[width_of(num) == B8 ? 1 : 0][at(
                                  index_of(where.num))][where.uniform() ? 1 : 0]);
        instr.d = static_cast<std::uint32_t>(array.held->at + part * array.count * row);
        instr.a = value.held->number();
        instr.b = scalar(where);
        instr.c = array.count;
    }
}

// ---- Atomics -----------------------------------------------------------------------------------

Values Compiler::atomic(Context& cx, const ir::Expr& e, const Targets* targets) {
    const ir::Buffer& buffer = program_.buffers[e.imm];
    const auto operands = cx.code->operands_of(e);
    std::array<Value, 3> values;
    for (std::size_t n = 0; n < operands.size(); ++n)
        values[n] = to_lanes(expr(cx, operands[n])[0]);
    const auto op = static_cast<Atomic>(static_cast<unsigned>(e.op) -
                                        static_cast<unsigned>(ir::Op::ATOMIC_LOAD));
    const Num num = num_of(buffer.type.kind);
    Instr instr;
    instr.array = e.imm;
    instr.b = values[0].held->number();
    if (values[1].held) instr.a = values[1].held->number();
    if (values[2].held) instr.c = values[2].held->number();
    const Kernel kernel = atomic_kernel(op, num, index_of(values[0].num), buffer.shared());
    if (op == Atomic::Store) {
        Instr& last = emit(Step::Lanes, kernel);
        last.array = instr.array;
        last.a = instr.a;
        last.b = instr.b;
        return {};
    }
    Value old = emit_lanes(num, kernel, instr, targets != nullptr ? &(*targets)[0] : nullptr);
    behind_load_ = here();
    return old;
}

Value Compiler::length(std::uint32_t array, bool wide) {
    const auto literal = [&](std::uint64_t count) {
        constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
        return constant(wide ? Num::U64 : Num::U32, wide ? count : std::min(count, most));
    };
    if (array >= program_.buffers.size())
        return literal(program_.tables[array - program_.buffers.size()].bits.size());
    const ir::Buffer& buffer = program_.buffers[array];
    if (buffer.count_kind == ir::Buffer::Count::Literal) return literal(buffer.count);
    Held& held = lengths_[{array, wide}];
    if (!held) {
        held = outside_scalar();
        code_.lengths.push_back({held->number(), array, wide});
    }
    Value value = result(wide ? Num::U64 : Num::U32, held);
    value.form = Value::Form::Scalar;
    return value;
}

}  // namespace wye::cpu
