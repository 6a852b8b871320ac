// SPDX-License-Identifier: Apache-2.0
//
// The forms of float operations. Signs and NaNs are handled on the bits; operations that a device
// does not round correctly go through f64 or the library of emulations.
#include <initializer_list>
#include <optional>

#include "lower/middle/maker.hpp"

namespace wye::lower::middle {
namespace {

using ir::Kind;
using ir::Op;

class Float {
  public:
    explicit Float(Maker& maker) : m_(maker), word_(m_.word) {}

    // Writes the form of an operation. Returns false if the operation has none.
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
    bool by_start(bool exact) const;
    StepId inverse_root(StepId radicand) {  // radicand: a normal f32; the error is at most 2 ulp
        return m_.make(Op::RSQRT, Kind::F32, Kind::F32, {radicand});
    }
    StepId fused(StepId a, StepId b, StepId c) {
        return m_.make(Op::FMA, m_.kind, m_.kind, {a, b, c});
    }
    // Negates by a multiplication, which takes less time than an operation on bits. The sign of a
    // NaN does not matter.
    StepId negated(StepId a) { return m_.op(Op::MUL, a, m_.literal(m_.kind, 0xbf800000U)); }
    StepId with_sign_of(StepId c, StepId size) {  // size: not negative
        const StepId sign = m_.both_bits(m_.bits_of(c), m_.u32(0x80000000U));
        return m_.as(m_.either_bits(m_.bits_of(size), sign), m_.kind);
    }
    // A result, and whether it is certainly the correctly rounded one. If not, an emulation
    // computes the result.
    struct Candidate {
        StepId certain, value;
    };
    StepId difference(StepId a, StepId b, StepId c);
    Candidate corrected(StepId near, StepId correction);
    StepId ordinary_radicand(StepId a);
    void divide_from_start();
    void root_from_start();
    void root_by_fma();
    void inverse_root_from_start();
    bool divide(Form& form);
    bool square_root(Form& form);
    bool inverse_square_root(Form& form);
    bool fused_form(Form& form);
    StepId are_normal(std::initializer_list<StepId> values);
    StepId fused_through_f64(StepId a, StepId b, StepId c);
    StepId extreme(bool least);
    bool whole(Op op, const char* narrow, const char* wide);

    Maker& m_;
    const Kind word_;
};

// Whether f64 quotients and roots are computed by fused steps: if a quirk asks for this, and f32
// roots are not exact. (An f32 quotient or root that is computed in f64 and rounded to f32 is
// correctly rounded, since f64 has 53 bits, more than 2 * 24 + 1.)
bool Float::by_fma() const {
    return m_.wide && m_.target.quirks.has(Quirk::NvidiaVkDivisionCall) && m_.target.f64 &&
           m_.target.is_exact(Rounded::F64Fma) && !m_.target.is_exact(Rounded::F32Sqrt);
}

// Whether an f32 quotient or root is computed in f32 from the target's own inverse square root.
// `exact`: the target's own operation is exact. False on a CPU with f64, whose vectors of f64 are
// faster.
bool Float::by_start(bool exact) const {
    const Target& target = m_.target;
    const bool calls =
        target.quirks.has(Quirk::NvidiaVkDivisionCall) && !target.is_exact(Rounded::F32Sqrt);
    return !m_.wide && target.near_inverse_root && target.emulates && (!exact || calls) &&
           (!target.workgroup_loops || !target.f64);
}

// Returns a - b * c, by fma or from the four products of 12-bit halves, which are exact. The result
// is exact if b * c is so near a that the difference has few bits. Neither an operand nor the
// result may be subnormal.
StepId Float::difference(StepId a, StepId b, StepId c) {
    if (m_.target.fuses_normals) return fused(negated(b), c, a);
    // The upper half of b is rounded to nearest, so that the lower half is short enough for the
    // sums to be exact.
    const auto upper = [&](StepId bits) {
        return m_.as(m_.both_bits(bits, m_.u32(0xfffff000U)), m_.kind);
    };
    const StepId b_high = upper(m_.plus(m_.bits_of(b), m_.u32(0x800U)));
    const StepId b_low = m_.minus(b, b_high);
    const StepId c_high = b == c ? b_high : upper(m_.bits_of(c));
    const StepId c_low = b == c ? b_low : m_.minus(c, c_high);
    StepId left = m_.minus(a, m_.op(Op::MUL, b_high, c_high));
    left = m_.minus(left, m_.op(Op::MUL, b_high, c_low));
    left = m_.minus(left, m_.op(Op::MUL, b_low, c_high));
    return m_.minus(left, m_.op(Op::MUL, b_low, c_low));
}

// Returns near + correction, correctly rounded. The result is not certain if the sum is so near the
// middle of two f32 that the error of the correction (less than 2^-18 of the correction) could
// decide how the sum is rounded.
Float::Candidate Float::corrected(StepId near, StepId correction) {
    const auto sum = [&](std::uint64_t factor) {
        return m_.plus(near, m_.op(Op::MUL, correction, m_.literal(m_.kind, factor)));
    };
    const StepId low = sum(0x3f7fffc0U);   // 1 - 2^-18
    const StepId high = sum(0x3f800020U);  // 1 + 2^-18
    return {m_.equal(low, high), low};
}

// Operands from 2^-50 to 2^50 are ordinary: with them, no step meets subnormal numbers or
// overflows.
void Float::divide_from_start() {
    const StepId a = m_.operand();
    const StepId c = m_.operand();
    const auto ordinary = [&](StepId x) {
        const StepId size = m_.left(m_.bits_of(x), m_.u32(1));
        return m_.less(m_.minus(size, m_.u32(0x4d000000U)), m_.u32(0x64000000U));
    };
    const StepId root = inverse_root(m_.as(m_.magnitude(c), m_.kind));
    const StepId inverse = with_sign_of(c, m_.op(Op::MUL, root, root));
    const StepId near = m_.op(Op::MUL, a, inverse);
    const StepId correction = m_.op(Op::MUL, difference(a, near, c), inverse);
    const auto [rounds, quotient] = corrected(near, correction);
    const StepId certain = m_.both(rounds, m_.both(ordinary(a), ordinary(c)));
    m_.result(m_.call("quotient_or_div32", m_.kind, {a, c, certain, quotient}));
}

// Whether a positive radicand is ordinary: from 2^-60 to 2^60.
StepId Float::ordinary_radicand(StepId a) {
    return m_.less(m_.minus(m_.bits_of(a), m_.u32(0x21800000U)), m_.u32(0x3c000000U));
}

void Float::root_from_start() {
    const StepId a = m_.operand();
    const StepId start = inverse_root(a);
    const StepId near = m_.op(Op::MUL, a, start);
    const StepId half = m_.op(Op::MUL, start, m_.literal(m_.kind, 0x3f000000U));
    const StepId correction = m_.op(Op::MUL, difference(a, near, near), half);
    const auto [rounds, root] = corrected(near, correction);
    const StepId certain = m_.both(rounds, ordinary_radicand(a));
    m_.result(m_.call("root_or_sqrt32", m_.kind, {a, certain, root}));
}

// One step of Newton's for the root and for minus half of its inverse; then the exact remainder
// corrects the root. tests/math/exhaust.cpp tries all radicands of two binades. With a radicand
// above 2^-76 no step meets a subnormal number.
void Float::root_by_fma() {
    const StepId a = m_.operand();
    const StepId start = inverse_root(a);
    const StepId first = m_.op(Op::MUL, a, start);
    const StepId half = m_.op(Op::MUL, start, m_.literal(m_.kind, 0xbf000000U));
    const StepId left = fused(first, half, m_.literal(m_.kind, 0x3f000000U));
    const StepId near = fused(first, left, first);
    const StepId near_half = fused(half, left, half);
    const StepId excess = fused(near, near, negated(a));
    const StepId root = fused(excess, near_half, near);
    const StepId positive = m_.less(m_.literal(m_.kind, 0x19800000U), a);
    const StepId finite = m_.less(a, m_.literal(m_.kind, 0x7f800000U));
    const StepId certain = m_.both(positive, finite);
    m_.result(m_.call("root_or_sqrt32", m_.kind, {a, certain, root}));
}

// Computes 1 / sqrt(a) from the target's own inverse square root, as math_rsqrt_f32_from_start in
// ../math/f32.wye does.
void Float::inverse_root_from_start() {
    const StepId a = m_.operand();
    const StepId near = inverse_root(a);
    const StepId minus = negated(near);
    const StepId product = m_.op(Op::MUL, a, minus);
    const StepId left = fused(product, near, m_.literal(m_.kind, 0x3f800000U));
    const StepId rest = fused(fused(a, near, product), minus, left);
    const StepId half = m_.op(Op::MUL, near, m_.literal(m_.kind, 0x3f000000U));
    const auto [rounds, root] = corrected(near, m_.op(Op::MUL, half, rest));
    const StepId certain = m_.both(rounds, m_.less(m_.literal(m_.kind, 0x00800000U), a));
    m_.result(m_.call("inverse_root_or_rsqrt32", m_.kind, {a, certain, root}));
}

// Computes 1 / sqrt(a) of f32 in integers, as math_rsqrt_corrected_f32 in ../math/inverse_root.wye
// does. a = v * 4^k; v = m * 2^-23 lies between 1 and 4; y * 2^-24 is nearly 1 / sqrt(v). So m *
// y^2 is nearly 2^71, and the upper word of the lower 64 bits of this product tells the distance to
// 2^71. The distance tells first by how many steps to change y, then on which side of the middle
// between two steps the root lies. The root is never the middle itself.
bool Float::inverse_square_root(Form& form) {
    if (m_.wide || !m_.target.near_inverse_root) return false;
    form.function = true;
    if (m_.target.fuses_normals && m_.target.emulates) {
        inverse_root_from_start();
        return true;
    }
    const auto high = [&](StepId a, StepId b) {
        return m_.apply(operation(Op::MUL_HI, Kind::U32), Kind::U32, {a, b});
    };
    const auto product = [&](StepId a, StepId b) { return m_.op(Op::MUL, a, b); };
    const auto n = [&](std::uint64_t value) { return m_.u32(value); };
    const StepId a = m_.operand();
    const StepId bits = m_.bits_of(a);
    const StepId small = m_.less(bits, n(0x00800000U));
    const StepId scaled = product(a, m_.literal(m_.kind, 0x4b800000U));  // by 2^24
    const StepId normal = m_.bits_of(m_.select(small, scaled, a));
    const StepId even = m_.differing_bits(m_.both_bits(normal, n(0x00ffffffU)), n(0x00800000U));
    const StepId v = m_.plus(even, n(0x3f800000U));
    const StepId fraction = m_.either_bits(m_.both_bits(v, n(0x007fffffU)), n(0x00800000U));
    const StepId twice = m_.both_bits(m_.differing_bits(m_.right(v, n(23)), n(1)), n(1));
    const StepId m = m_.left(fraction, twice);
    const auto missing = [&](StepId y) {
        return m_.plus(high(product(y, y), m), product(high(y, y), m));
    };
    const StepId y = m_.minus(m_.bits_of(inverse_root(m_.as(v, m_.kind))), n(0x3e800000U));
    const StepId steps = m_.minus(n(0), product(missing(y), m_.right(y, n(13))));
    const StepId below = m_.plus(y, m_.as(m_.right(m_.as(steps, Kind::I32), n(27)), Kind::U32));
    const StepId middle = m_.plus(m_.left(below, n(1)), n(1));
    const StepId nearest = m_.plus(below, m_.right(missing(middle), n(31)));
    const StepId exponent = m_.as(m_.right(m_.as(m_.minus(normal, v), Kind::I32), n(1)), Kind::U32);
    const StepId one = m_.select(small, n(0x44800000U), n(0x3e800000U));  // exponent + 12 if scaled
    const StepId root = m_.minus(m_.plus(nearest, one), exponent);
    const StepId ordinary = m_.less(m_.minus(bits, n(1)), n(0x7f7fffffU));
    const StepId zero = m_.equal(m_.left(bits, n(1)), n(0));
    const StepId infinite = m_.equal(bits, n(0x7f800000U));
    const StepId other = m_.select(infinite, n(0), n(0x7fc00000U));
    const StepId special = m_.select(zero, m_.either_bits(bits, n(0x7f800000U)), other);
    m_.result(value(m_.select(ordinary, root, special)));
    return true;
}

bool Float::divide(Form& form) {
    if (by_start(m_.target.is_exact(Rounded::F32Div))) {
        divide_from_start();
        form.function = true;
        return true;
    }
    const StepId a = m_.operand();
    const StepId c = m_.operand();
    const Target& target = m_.target;
    if (by_fma()) {
        const StepId start = inverse_root(m_.call("radicand_of_divisor64", Kind::F32, {c}));
        m_.result(m_.call("div64_by_fma", m_.kind, {a, c, start}));
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

bool Float::square_root(Form& form) {
    if (by_start(m_.target.is_exact(Rounded::F32Sqrt))) {
        m_.target.fuses_normals ? root_by_fma() : root_from_start();
        form.function = true;
        return true;
    }
    const StepId a = m_.operand();
    const Target& target = m_.target;
    const auto root = [&](StepId of, Kind kind) { return m_.make(Op::SQRT, kind, kind, {of}); };
    if (by_fma()) {
        const StepId start = inverse_root(m_.call("radicand64", Kind::F32, {a}));
        m_.result(m_.call("sqrt64_by_fma", m_.kind, {a, start}));
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

bool Float::fused_form(Form& form) {
    const StepId a = m_.operand();
    const StepId b = m_.operand();
    const StepId c = m_.operand();
    const Target& target = m_.target;
    if (target.is_exact(m_.wide ? Rounded::F64Fma : Rounded::F32Fma)) {
        m_.result(fused(a, b, c));
    } else if (!m_.wide && target.fuses_normals && target.emulates) {
        const StepId sum = fused(a, b, c);
        m_.result(m_.call("fused_or_fma32", m_.kind, {a, b, c, are_normal({a, b, c, sum}), sum}));
        form.function = true;
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

// Whether the magnitude of each value is above 2^-126. A smaller operand of an fma is subnormal or
// 0, and a result of exactly 2^-126 may have been rounded up from a subnormal value.
StepId Float::are_normal(std::initializer_list<StepId> values) {
    const StepId least = m_.literal(m_.kind, 0x00800000U);
    std::optional<StepId> all;
    for (const StepId x : values) {
        const StepId normal = m_.less(least, value(m_.magnitude(x)));
        all = all ? m_.both(*all, normal) : normal;
    }
    return *all;
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
            return divide(form);
        case Op::SQRT:
            return square_root(form);
        case Op::RSQRT:
            return inverse_square_root(form);
        case Op::FMA:
            return fused_form(form);
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
