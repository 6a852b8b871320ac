// SPDX-License-Identifier: Apache-2.0
#include "lower/middle/leaves.hpp"

#include <algorithm>

namespace wye::lower::middle {
namespace {

using ir::Kind;
using ir::Op;

bool wide(Kind kind) { return kind == Kind::I64 || kind == Kind::U64; }

Leaf number(std::uint64_t value) { return {.kind = Kind::U32, .bits = value}; }
Leaf of(Outer outer, std::uint64_t index = 0) { return {.outer = outer, .bits = index}; }

}  // namespace

Count count_of(const ir::Program& program, std::uint32_t buffer) {
    const ir::Buffer& b = program.buffers[buffer];
    return {b.count_kind == ir::Buffer::Count::Literal, b.count, buffer};
}

Leaf length_of(const Count& count, Kind index) {
    if (count.fixed) {
        if (wide(index)) return {.kind = Kind::U64, .bits = count.elements};
        const std::uint64_t most = index == Kind::I32 ? 0x80000000U : 0xffffffffU;
        return number(std::min(count.elements, most));
    }
    const Outer outer = wide(index)          ? Outer::Length64
                        : index == Kind::I32 ? Outer::SignedLength
                                             : Outer::Length;
    return of(outer, count.buffer);
}

Leaf built_in(std::uint16_t which, unsigned component, const Sizes& sizes) {
    const bool flat = sizes.workgroup[component] == 1;
    switch (which) {
        case WYE_BUILTIN_WORKGROUP_ID:
            return of(Outer::WorkgroupId, component);
        case WYE_BUILTIN_LOCAL_ID:
            return flat ? number(0) : of(Outer::LocalId, component);
        case WYE_BUILTIN_GLOBAL_ID:
            return of(flat ? Outer::WorkgroupId : Outer::GlobalId, component);
        case WYE_BUILTIN_NUM_WORKGROUPS:
            return of(Outer::NumWorkgroups, component);
        case WYE_BUILTIN_WORKGROUP_SIZE:
            return number(sizes.workgroup[component]);
        case WYE_BUILTIN_LOCAL_INDEX:
            return sizes.invocations() == 1 ? number(0) : of(Outer::LocalIndex);
        case WYE_BUILTIN_SUBGROUP_SIZE:
            return number(sizes.subgroup);
        case WYE_BUILTIN_NUM_SUBGROUPS:
            return number(sizes.invocations() / sizes.subgroup);
        case WYE_BUILTIN_SUBGROUP_ID:
            return of(Outer::SubgroupId);
        default:
            return of(Outer::SubgroupLane);
    }
}

Leaf leaf_of(const ir::Program& program, const ir::Code& code, const ir::Expr& e) {
    const auto elements = [](std::uint64_t n) { return Count{.fixed = true, .elements = n}; };
    const auto local = static_cast<std::uint32_t>(e.extra);
    switch (e.op) {
        case Op::LITERAL:
            return {.kind = e.type.kind, .bits = e.extra};
        case Op::PARAM:
            return {.outer = Outer::Param, .kind = e.type.kind, .bits = e.imm};
        case Op::LEN:
            return length_of(count_of(program, e.imm), Kind::U32);
        case Op::LEN64:
            return length_of(count_of(program, e.imm), Kind::U64);
        case Op::LEN_TABLE:
            return length_of(elements(program.tables[e.imm].bits.size()), Kind::U32);
        case Op::LEN64_TABLE:
            return length_of(elements(program.tables[e.imm].bits.size()), Kind::U64);
        case Op::LEN_ARRAY:
            return length_of(elements(code.locals[local].count), Kind::U32);
        default:
            return length_of(elements(code.locals[local].count), Kind::U64);
    }
}

}  // namespace wye::lower::middle
