// SPDX-License-Identifier: Apache-2.0
//
// Conversions between scalar kinds, and the choice among the parts of an operation.
#include "lower/spirv/library.hpp"
#include "lower/spirv/ops.hpp"

namespace wye::lower {
namespace {

using ir::Kind;
using ir::Op;

// Bounds of the floats whose truncation fits: powers of two, exact in both kinds, or the last value
// above minus one. `least` is itself allowed where `closed` says so.
struct Saturation {
    std::uint64_t low, high;  // bits of the bounds
    bool closed;
    std::uint64_t least, greatest;  // of the integer kind
};

Saturation saturation(Kind from, Kind to) {
    const bool f64 = from == Kind::F64;
    switch (to) {
        case Kind::I32:  // f64 may go down to -2^31 - 1, not included
            return f64 ? Saturation{0xc1e0000000200000U, 0x41e0000000000000U, false, 0x80000000U,
                                    0x7fffffffU}
                       : Saturation{0xcf000000U, 0x4f000000U, true, 0x80000000U, 0x7fffffffU};
        case Kind::U32:
            return f64 ? Saturation{0xbff0000000000000U, 0x41f0000000000000U, false, 0, 0xffffffffU}
                       : Saturation{0xbf800000U, 0x4f800000U, false, 0, 0xffffffffU};
        case Kind::I64:
            return f64 ? Saturation{0xc3e0000000000000U, 0x43e0000000000000U, true,
                                    0x8000000000000000U, 0x7fffffffffffffffU}
                       : Saturation{0xdf000000U, 0x5f000000U, true, 0x8000000000000000U,
                                    0x7fffffffffffffffU};
        default:
            return f64 ? Saturation{0xbff0000000000000U, 0x43f0000000000000U, false, 0,
                                    ~std::uint64_t{0}}
                       : Saturation{0xbf800000U, 0x5f800000U, false, 0, ~std::uint64_t{0}};
    }
}

// SPIR-V leaves conversions out of range open, so the source is made safe first. The language
// saturates and takes NaN to 0.
Id float_to_int(SpirvBuilder& b, Kind from, Kind to, Id value) {
    const Saturation s = saturation(from, to);
    SpirvModule& m = b.module;
    const Id zero = m.literal(from, 0);
    const Id above =
        b.compare(s.closed ? spv::Op::OpFOrdGreaterThanEqual : spv::Op::OpFOrdGreaterThan, value,
                  m.literal(from, s.low));
    const Id ok = b.both(above, b.compare(spv::Op::OpFOrdLessThan, value, m.literal(from, s.high)));
    const bool is_signed = ir::Type{to, 1}.signed_integer();
    const Id safe = b.select(ok, value, zero);
    const Id type = m.value_type(to);
    const Id inside =
        is_signed ? b.bitcast(b.convert(spv::Op::OpConvertFToS, m.signed_type(type), safe), type)
                  : b.convert(spv::Op::OpConvertFToU, type, safe);
    const Id low = b.select(b.compare(spv::Op::OpFOrdLessThan, value, zero), m.literal(to, s.least),
                            m.literal(to, 0));
    const Id end = b.select(b.compare(spv::Op::OpFOrdGreaterThan, value, zero),
                            m.literal(to, s.greatest), low);
    return b.select(ok, inside, end);
}

// To the nearest f16, still held as f32.
Id round_to_half(SpirvBuilder& b, Id value) {
    if (!b.context.facts.native_f16_convert) return spirv_library_call(b, "f16_round", {value});
    if (b.quirk(Quirk::LlvmIntegerThroughHalf)) value = b.hidden(Kind::F32, value);
    const Id half = b.convert(spv::Op::OpFConvert, b.module.float_type(16), value);
    return b.convert(spv::Op::OpFConvert, b.module.float_type(32), half);
}

// f16 computes in f32 and rounds; of a fused addition the product is exact in f32.
Id half_operation(SpirvBuilder& b, Op op, std::span<const Id> v) {
    const auto in_f32 = [&](Op what, Id first, Id second) {
        const Id operands[] = {first, second};
        return spirv_float_operation(b, what, Kind::F32, operands);
    };
    switch (op) {
        case Op::ADD:
        case Op::SUB:
        case Op::MUL:
        case Op::DIV:
        case Op::SQRT:
            return round_to_half(b, spirv_float_operation(b, op, Kind::F32, v));
        case Op::FMA:
            return round_to_half(b, in_f32(Op::ADD, in_f32(Op::MUL, v[0], v[1]), v[2]));
        default:
            return spirv_float_operation(b, op, Kind::F32, v);
    }
}

}  // namespace

Id spirv_conversion(SpirvBuilder& b, Kind from, Kind to, Id value) {
    const ir::Type source{from, 1};
    const ir::Type target{to, 1};
    SpirvModule& m = b.module;
    if (from == to) return value;
    if (from == Kind::F16) return spirv_conversion(b, Kind::F32, to, value);  // held as f32
    if (to == Kind::F16) {
        if (from == Kind::F64) return spirv_library_call(b, "f16_of_f64", {value});
        // What the way through f32 rounds in integers is far beyond the largest f16.
        const Id narrow = spirv_conversion(b, from, Kind::F32, value);
        return source.boolean() ? narrow : round_to_half(b, narrow);
    }
    if (source.boolean()) {
        const std::uint64_t one = !target.floating() ? 1
                                  : to == Kind::F64  ? 0x3ff0000000000000U
                                                     : 0x3f800000U;
        return b.select(value, m.literal(to, one), m.literal(to, 0));
    }
    if (source.floating() && target.integer()) return float_to_int(b, from, to, value);
    if (source.signed_integer() && target.floating())
        return b.convert(spv::Op::OpConvertSToF, m.value_type(to), b.as_signed(value));
    if (source.integer() && target.floating())
        return b.convert(spv::Op::OpConvertUToF, m.value_type(to), value);
    if (source.floating()) return b.convert(spv::Op::OpFConvert, m.value_type(to), value);
    if (source.bits() == target.bits()) return value;
    if (source.signed_integer() && target.bits() > source.bits() &&
        !b.quirk(Quirk::MesaSextCompare))
        return b.make(spv::Op::OpSConvert, m.value_type(to), {value});
    if (source.signed_integer() && target.bits() > source.bits())
        return b.join_words(value, b.op(spv::Op::OpShiftRightArithmetic, value, b.u32(31)));
    return b.make(spv::Op::OpUConvert, m.value_type(to), {value});
}

Id spirv_operation(SpirvBuilder& b, Op op, Kind kind, std::span<const Id> v) {
    const ir::Type type{kind, 1};
    if (op == Op::CLAMP) {
        const Id inner[] = {v[0], v[1]};
        const Id outer[] = {spirv_operation(b, Op::MAX, kind, inner), v[2]};
        return spirv_operation(b, Op::MIN, kind, outer);
    }
    Id out = 0;
    if (type.floating())
        out = kind == Kind::F16 ? half_operation(b, op, v) : spirv_float_operation(b, op, kind, v);
    if (type.integer()) out = spirv_integer_operation(b, op, kind, v);
    if (type.boolean()) {
        if (op == Op::LOGICAL_NOT) out = b.op(spv::Op::OpLogicalNot, v[0]);
        if (op == Op::LOGICAL_AND) out = b.both(v[0], v[1]);
        if (op == Op::LOGICAL_OR) out = b.either(v[0], v[1]);
        if (op == Op::EQ) out = b.test(spv::Op::OpLogicalEqual, v[0], v[1]);
        if (op == Op::NE) out = b.test(spv::Op::OpLogicalNotEqual, v[0], v[1]);
    }
    if (out != 0) return out;
    b.context.refuse("`" + std::string(ir::op_text(op)) + "`");
    return v.empty() ? b.module.null(b.module.value_type(kind)) : v[0];
}

}  // namespace wye::lower
