// SPDX-License-Identifier: Apache-2.0
//
// The forms of float operations. Signs and NaNs are handled on the bits; operations that a device
// does not round correctly go through f64 or the library of emulations.
#include "lower/middle/maker.hpp"

namespace wye::lower::middle {
namespace {

using ir::Kind;
using ir::Op;

class Float {
  public:
    explicit Float(Maker& maker) : m_(maker), word_(m_.word) {}

    // Writes the form of an operation. Returns false if it has none.
    bool write(Op op, Form& form);

  private:
    StepId number(std::uint64_t value) { return m_.literal(word_, value); }
    StepId value(StepId bits) { return m_.as(bits, m_.kind); }
    StepId emulated(const char* narrow, const char* wide, std::initializer_list<StepId> parts) {
        return m_.call(m_.wide ? wide : narrow, m_.kind, parts);
    }
    StepId widened(StepId a) { return m_.convert(a, Kind::F64, kOfArithmetic); }
    StepId narrowed(StepId a) { return m_.convert(a, Kind::F32, kOfArithmetic); }
    bool by_fma() const;
    StepId inverse_root(StepId radicand) {  // radicand: a normal f32; the error is at most 2 ulp
        return m_.make(Op::RSQRT, Kind::F32, Kind::F32, {radicand});
    }
    bool divide();
    bool square_root();
    bool fused(Form& form);
    StepId fused_through_f64(StepId a, StepId b, StepId c);
    StepId extreme(bool least);
    bool whole(Op op, const char* narrow, const char* wide);

    Maker& m_;
    const Kind word_;
};

// Whether quotients and roots are computed by fused steps, for the quirk `nvidia-vk-division-call`
// if f32 roots are not exact. If not, inexact f32 operations are computed in f64 and rounded, which
// is correct, since f64 has 53 bits, more than 2 * 24 + 1.
bool Float::by_fma() const {
    return m_.target.quirks.has(Quirk::NvidiaVkDivisionCall) && m_.target.f64 &&
           m_.target.is_exact(Rounded::F64Fma) && !m_.target.is_exact(Rounded::F32Sqrt);
}

bool Float::divide() {
    const StepId a = m_.operand();
    const StepId c = m_.operand();
    const Target& target = m_.target;
    if (by_fma()) {
        const char* of = m_.wide ? "radicand_of_divisor64" : "radicand_of_divisor32";
        const StepId start = inverse_root(m_.call(of, Kind::F32, {c}));
        m_.result(emulated("div32_by_fma", "div64_by_fma", {a, c, start}));
    } else if (target.is_exact(m_.wide ? Rounded::F64Div : Rounded::F32Div)) {
        m_.result(m_.op(Op::DIV, a, c));
    } else if (!m_.wide && target.f64 && target.is_exact(Rounded::F64Div)) {
        m_.result(narrowed(m_.op(Op::DIV, widened(a), widened(c))));
    } else if (target.emulates) {
        m_.result(emulated("div32", "div64", {a, c}));
    } else {
        return false;
    }
    return true;
}

bool Float::square_root() {
    const StepId a = m_.operand();
    const Target& target = m_.target;
    const auto root = [&](StepId of, Kind kind) { return m_.make(Op::SQRT, kind, kind, {of}); };
    if (by_fma()) {
        const char* of = m_.wide ? "radicand64" : "radicand32";
        const StepId start = inverse_root(m_.call(of, Kind::F32, {a}));
        m_.result(emulated("sqrt32_by_fma", "sqrt64_by_fma", {a, start}));
    } else if (target.is_exact(m_.wide ? Rounded::F64Sqrt : Rounded::F32Sqrt)) {
        m_.result(root(a, m_.kind));
    } else if (!m_.wide && target.f64 && target.is_exact(Rounded::F64Sqrt)) {
        m_.result(narrowed(root(widened(a), Kind::F64)));
    } else if (target.emulates) {
        m_.result(emulated("sqrt32", "sqrt64", {a}));
    } else {
        return false;
    }
    return true;
}

bool Float::fused(Form& form) {
    const StepId a = m_.operand();
    const StepId b = m_.operand();
    const StepId c = m_.operand();
    const Target& target = m_.target;
    if (target.is_exact(m_.wide ? Rounded::F64Fma : Rounded::F32Fma)) {
        m_.result(m_.make(Op::FMA, m_.kind, m_.kind, {a, b, c}));
    } else if (!m_.wide && target.f64) {
        m_.result(fused_through_f64(a, b, c));
        form.function = true;
    } else if (target.emulates) {
        m_.result(emulated("fma32_in_integers", "fma64", {a, b, c}));
    } else {
        return false;
    }
    return true;
}

// Computes an f32 fma in f64. The product is exact and the sum is rounded to odd, so the final
// rounding to f32 is correct.
StepId Float::fused_through_f64(StepId a, StepId b, StepId c) {
    const StepId zero = m_.literal(Kind::F64, 0);
    const StepId p =
        m_.named("p", m_.op(Op::MUL, m_.convert(a, Kind::F64), m_.convert(b, Kind::F64)));
    const StepId q = m_.named("q", m_.convert(c, Kind::F64));
    const StepId s = m_.named("s", m_.plus(p, q));
    const StepId t = m_.named("t", m_.minus(s, p));
    const StepId lost = m_.minus(p, m_.minus(s, t));
    const StepId e = m_.named("e", m_.plus(lost, m_.minus(q, t)));
    const StepId u = m_.named("u", m_.bits_of(s));
    const StepId one = m_.literal(Kind::U64, 1);
    const StepId even = m_.equal(m_.both_bits(u, one), m_.literal(Kind::U64, 0));
    const StepId above = m_.greater(e, zero);
    const StepId fix = m_.named("fix", m_.both(m_.either(m_.less(e, zero), above), even));
    const StepId away = m_.test(Op::EQ, m_.greater(e, zero), m_.greater(s, zero));
    const StepId w = m_.named("w", m_.select(away, m_.plus(u, one), m_.minus(u, one)));
    return m_.convert(m_.select(fix, m_.as(w, Kind::F64), s), Kind::F32);
}

// Computes minimumNumber or maximumNumber. Equal operands differ at most in the sign of zero: `or`
// of their bits gives the minimum, `and` the maximum.
StepId Float::extreme(bool least) {
    const StepId a = m_.operand();
    const StepId c = m_.operand();
    const StepId joined = value(m_.op(least ? Op::OR : Op::AND, m_.bits_of(a), m_.bits_of(c)));
    const StepId first = m_.test(least ? Op::LT : Op::GT, a, c);
    const StepId other = m_.select(m_.either(first, m_.is_nan(c)), a, c);
    return m_.select(m_.equal(a, c), joined, other);
}

bool Float::whole(Op op, const char* narrow, const char* wide) {
    const Target& target = m_.target;
    StepId a = m_.operand();
    if (!m_.wide) a = m_.hidden(Quirk::LlvmpipeRoundedZero, a);
    StepId result = 0;
    if (!(m_.wide ? target.rounds_f64 : target.rounds_f32)) {
        if (!target.emulates) return false;
        result = emulated(narrow, wide, {a});
    } else if (target.quirks.has(Quirk::PoclConstantRounding)) {
        // All values from 2^23 (f64: 2^52) on are whole numbers. These and NaNs bypass the
        // operation.
        const StepId end = m_.literal(m_.kind, m_.wide ? 0x4330000000000000U : 0x4b000000U);
        const StepId small = m_.named("small", m_.less(value(m_.magnitude(a)), end));
        const StepId given = m_.select(small, a, m_.literal(m_.kind, 0));
        result = m_.select(small, m_.make(op, m_.kind, m_.kind, {given}), a);
    } else {
        result = m_.make(op, m_.kind, m_.kind, {a});
    }
    m_.result(m_.wide ? m_.hidden(Quirk::MesaOneBesideZero, result) : result);
    return true;
}

bool Float::write(Op op, Form& form) {
    switch (op) {
        case Op::NEG:
            m_.result(value(m_.differing_bits(m_.bits_of(m_.operand()), number(m_.sign_bit()))));
            return true;
        case Op::ABS:
            m_.result(value(m_.magnitude(m_.operand())));
            return true;
        case Op::COPYSIGN: {
            const StepId a = m_.operand();
            const StepId b = m_.operand();
            const StepId sign = m_.both_bits(m_.bits_of(b), number(m_.sign_bit()));
            const StepId s = m_.named("s", m_.select(m_.is_nan(b), number(0), sign));
            m_.result(value(m_.either_bits(m_.magnitude(a), s)));
            return true;
        }
        case Op::DIV:
            return divide();
        case Op::SQRT:
            return square_root();
        case Op::FMA:
            return fused(form);
        case Op::MIN:
        case Op::MAX:
            m_.result(extreme(op == Op::MIN));
            return true;
        case Op::FLOOR:
            return whole(op, "floor32", "floor64");
        case Op::CEIL:
            return whole(op, "ceil32", "ceil64");
        case Op::TRUNC:
            return whole(op, "trunc32", "trunc64");
        case Op::ROUND:
            return whole(op, "round32", "round64");
        case Op::ISNAN:
            m_.result(m_.is_nan(m_.operand()));
            return true;
        case Op::ISINF: {
            const StepId size = m_.magnitude(m_.operand());
            m_.result(m_.equal(size, number(m_.infinity())));
            return true;
        }
        default:
            return false;
    }
}

}  // namespace

bool make_float(Maker& m, Form& form, Op op) { return Float(m).write(op, form); }

}  // namespace wye::lower::middle
