// SPDX-License-Identifier: Apache-2.0
//
// The forms of conversions, and of f16 and bf16. An f16 value is held as the f32 of the same value.
// Below 2^-14 the f16 values are the multiples of 2^-24: adding and then subtracting a power of two
// rounds to such a multiple.
#include "lower/middle/maker.hpp"

namespace wye::lower::middle {
namespace {

using ir::Kind;
using ir::Op;

// The floats whose truncation fits the target lie between these bounds. Each bound is a power of
// two, or the least integer minus 1. The lower bound itself fits if `closed`.
struct Bounds {
    std::uint64_t low, high;
    bool closed;
};

Bounds bounds(Kind from, Kind to) {
    const bool f64 = from == Kind::F64;
    switch (to) {
        case Kind::I32:  // in f64, values above -2^31 - 1 fit
            return f64 ? Bounds{0xc1e0000000200000U, 0x41e0000000000000U, false}
                       : Bounds{0xcf000000U, 0x4f000000U, true};
        case Kind::U32:
            return f64 ? Bounds{0xbff0000000000000U, 0x41f0000000000000U, false}
                       : Bounds{0xbf800000U, 0x4f800000U, false};
        case Kind::I64:
            return f64 ? Bounds{0xc3e0000000000000U, 0x43e0000000000000U, true}
                       : Bounds{0xdf000000U, 0x5f000000U, true};
        default:
            return f64 ? Bounds{0xbff0000000000000U, 0x43f0000000000000U, false}
                       : Bounds{0xbf800000U, 0x5f800000U, false};
    }
}

// Makes a saturating conversion. Values out of range bypass the target's conversion, and NaN
// becomes 0.
void float_to_int(Maker& m, Kind to) {
    const Bounds b = bounds(m.kind, to);
    const ir::Type target{to, 1};
    const bool wide = target.bits() == 64;
    const std::uint64_t ones = wide ? ~std::uint64_t{0} : 0xffffffffU;
    const std::uint64_t sign = std::uint64_t{1} << (target.bits() - 1);
    const std::uint64_t least = target.signed_integer() ? sign : 0;
    const std::uint64_t greatest = target.signed_integer() ? sign - 1 : ones;
    const StepId a = m.operand();
    const StepId zero = m.number(0);
    const StepId above = m.test(b.closed ? Op::GE : Op::GT, a, m.number(b.low));
    const StepId ok = m.named("ok", m.both(above, m.less(a, m.number(b.high))));
    const StepId inside = m.named("t", m.convert(m.select(ok, a, zero), to));
    const StepId below = m.select(m.less(a, zero), m.literal(to, least), m.literal(to, 0));
    const StepId end = m.named("end", m.select(m.greater(a, zero), m.literal(to, greatest), below));
    m.result(m.select(ok, inside, end));
}

// The bits of a float without its sign, and the sign.
struct Parts {
    StepId sign, rest;
};
Parts parts_of(Maker& m, StepId x) {
    const StepId bits = m.bits_of(x);
    const StepId sign = m.named("sign", m.both_bits(bits, m.literal(m.word, m.sign_bit())));
    return {sign, m.named("size", m.differing_bits(bits, sign))};
}

// Rounds to the nearest f16: infinity from 65520 on, subnormal below 2^-14.
void round_to_half(Maker& m) {
    const auto number = [&](std::uint64_t narrow, std::uint64_t wide) {
        return m.literal(m.word, m.wide ? wide : narrow);
    };
    const auto [sign, a] = parts_of(m, m.operand());
    const StepId unit = m.number(m.wide ? 0x41b0000000000000U : 0x3f000000U);
    const StepId small = m.named("small", m.minus(m.plus(m.as(a, m.kind), unit), unit));
    const StepId infinite = number(0x7f800000U, 0x7ff0000000000000U);
    const StepId odd = m.both_bits(m.right(a, m.u32(m.wide ? 42 : 13)), number(1, 1));
    const StepId sum = m.plus(m.plus(a, number(0xfffU, 0x1ffffffffffU)), odd);
    const StepId normal = m.both_bits(sum, number(0xffffe000U, 0xfffffc0000000000U));
    const StepId over = m.at_least(a, number(0x477ff000U, 0x40effe0000000000U));
    const StepId large = m.named("large", m.select(over, infinite, normal));
    const StepId is_small = m.less(a, number(0x38800000U, 0x3f10000000000000U));
    const StepId finite = m.named("number", m.select(is_small, m.bits_of(small), large));
    const StepId rounded = m.select(m.greater(a, infinite), a, finite);
    const StepId bits = m.named("bits", m.either_bits(rounded, sign));
    const StepId held = m.as(bits, m.kind);
    m.result(m.wide ? m.convert(held, Kind::F32) : held);
}

void half_to_bits(Maker& m) {
    const StepId x = m.bits_of(m.operand());
    const StepId sign = m.named("sign", m.both_bits(m.right(x, m.u32(16)), m.u32(0x8000U)));
    const StepId a = m.named("size", m.both_bits(x, m.u32(0x7fffffffU)));
    const StepId half = m.literal(Kind::F32, 0x3f000000U);
    const StepId small = m.plus(m.as(a, Kind::F32), half);
    const StepId lowest = m.minus(m.bits_of(m.named("small", small)), m.u32(0x3f000000U));
    const StepId normal = m.right(m.minus(a, m.u32(0x38000000U)), m.u32(13));
    const StepId number =
        m.named("number", m.select(m.less(a, m.u32(0x38800000U)), lowest, normal));
    const StepId infinite = m.equal(a, m.u32(0x7f800000U));
    const StepId finite =
        m.named("finite", m.either_bits(m.select(infinite, m.u32(0x7c00U), number), sign));
    m.result(m.select(m.greater(a, m.u32(0x7f800000U)), m.u32(0x7e00U), finite));
}

void half_from_bits(Maker& m) {
    const StepId h = m.operand();
    const StepId size = m.named("size", m.both_bits(h, m.u32(0x7fffU)));
    const StepId unit = m.literal(Kind::F32, 0x33800000U);  // 2^-24
    const StepId small = m.op(Op::MUL, m.convert(size, Kind::F32), unit);
    const StepId lowest = m.bits_of(m.named("small", small));
    const StepId number = m.named("number", m.plus(m.left(size, m.u32(13)), m.u32(0x38000000U)));
    const StepId beyond = m.plus(number, m.u32(0x38000000U));
    const StepId large =
        m.named("large", m.select(m.at_least(size, m.u32(0x7c00U)), beyond, number));
    const StepId chosen = m.select(m.less(size, m.u32(0x400U)), lowest, large);
    const StepId sign = m.left(m.both_bits(h, m.u32(0x8000U)), m.u32(16));
    m.result(m.as(m.named("bits", m.either_bits(chosen, sign)), Kind::F32));
}

void brain_to_bits(Maker& m) {
    const StepId u = m.named("u", m.bits_of(m.operand(Kind::F32)));
    const StepId odd = m.both_bits(m.right(u, m.u32(16)), m.u32(1));
    const StepId rounded = m.right(m.plus(m.plus(u, m.u32(0x7fffU)), odd), m.u32(16));
    const StepId size = m.both_bits(u, m.u32(0x7fffffffU));
    m.result(m.select(m.greater(size, m.u32(0x7f800000U)), m.u32(0x7fc0U), rounded));
}

// Makes NaNs canonical. Comparing a value with itself takes one instruction less than testing the
// bits, and compilers optimise the comparison better. But some compilers assume that a value always
// equals itself.
void canonical_nan(Maker& m) {
    const StepId a = m.operand();
    const StepId nan = m.number(m.wide ? 0x7ff8000000000000U : 0x7fc00000U);
    m.result(m.select(m.target.self_comparison ? m.test(Op::NE, a, a) : m.is_nan(a), nan, a));
}

void to_half(Maker& m) {
    const FormKey rounded = conversion(Kind::F32, Kind::F16);
    // Integers that f32 cannot represent exactly are far above the largest f16, so rounding twice
    // is correct.
    const StepId narrow = m.apply(conversion(m.kind, Kind::F32), Kind::F32, {m.operand()});
    m.result(m.kind == Kind::BOOL ? narrow : m.apply(rounded, Kind::F16, {narrow}));
}

}  // namespace

bool make_conversion(Maker& m, Form& form, Kind to) {
    const ir::Type source{m.kind, 1};
    const ir::Type target{to, 1};
    if (m.kind == to) {
        m.result(m.operand());
    } else if (m.kind == Kind::F16) {
        m.result(m.apply(conversion(Kind::F32, to), to, {m.operand()}));
    } else if (to == Kind::F16 && source.floating()) {
        round_to_half(m);
        form.function = true;
    } else if (to == Kind::F16) {
        to_half(m);
    } else if (source.boolean()) {
        const std::uint64_t one = !target.floating() ? 1
                                  : to == Kind::F64  ? 0x3ff0000000000000U
                                                     : 0x3f800000U;
        m.result(m.select(m.operand(), m.literal(to, one), m.literal(to, 0)));
    } else if (source.floating() && target.integer()) {
        float_to_int(m, to);
    } else if (source.integer() && target.integer() && source.bits() == target.bits()) {
        m.result(m.as(m.operand(), to));
    } else if (source.signed_integer() && target.integer() && target.bits() > source.bits() &&
               m.target.quirks.has(Quirk::MesaSextCompare)) {
        const StepId a = m.operand();
        const StepId high = m.as(m.right(a, m.u32(31)), Kind::U32);
        m.result(m.as(m.join_words(m.as(a, Kind::U32), high), to));
    } else if (m.kind == Kind::F64 && to == Kind::F32 &&
               m.target.quirks.has(Quirk::NvidiaConstantNarrowing)) {
        const StepId bits = m.hidden(Quirk::NvidiaConstantNarrowing, m.bits_of(m.operand()));
        m.result(m.convert(m.as(bits, m.kind), to));
    } else {
        m.result(m.convert(m.operand(), to));
    }
    return true;
}

bool make_stored(Maker& m, Form& form) {
    switch (m.kind) {
        case Kind::F32:
        case Kind::F64:
            canonical_nan(m);
            return true;
        case Kind::F16:
            half_to_bits(m);
            form.function = true;
            return true;
        case Kind::BF16:
            brain_to_bits(m);
            form.function = true;
            return true;
        default:
            return false;
    }
}

bool make_loaded(Maker& m, Form& form, Kind kind) {
    if (kind == Kind::F16) {
        half_from_bits(m);
        form.function = true;
        return true;
    }
    if (kind != Kind::BF16) return false;
    m.result(m.as(m.left(m.operand(), m.u32(16)), Kind::F32));
    return true;
}

// Makes an f16 operation: it is computed in f32 and rounded to f16. The product of an fma is exact
// in f32.
bool make_half(Maker& m, Form&, Op op) {
    const auto in_f32 = [&](Op what, std::initializer_list<StepId> parts) {
        return m.apply(exact_operation(what, Kind::F32), Kind::F32, parts);
    };
    const auto rounded = [&](StepId value) {
        m.result(m.apply(conversion(Kind::F32, Kind::F16), Kind::F16, {value}));
        return true;
    };
    switch (op) {
        case Op::ADD:
        case Op::SUB:
        case Op::MUL:
        case Op::DIV: {
            const StepId a = m.operand();
            return rounded(in_f32(op, {a, m.operand()}));
        }
        case Op::SQRT:
            return rounded(in_f32(op, {m.operand()}));
        case Op::FMA: {
            const StepId a = m.operand();
            const StepId b = m.operand();
            const StepId product = in_f32(Op::MUL, {a, b});
            return rounded(in_f32(Op::ADD, {product, m.operand()}));
        }
        case Op::MIN:
        case Op::MAX:
        case Op::COPYSIGN: {
            const StepId a = m.operand();
            m.result(in_f32(op, {a, m.operand()}));
            return true;
        }
        default: {
            const StepId a = m.operand();
            const bool truth = op == Op::ISNAN || op == Op::ISINF;
            m.result(m.apply(exact_operation(op, Kind::F32), truth ? Kind::BOOL : Kind::F32, {a}));
            return true;
        }
    }
}

}  // namespace wye::lower::middle
