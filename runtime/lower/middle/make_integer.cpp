// SPDX-License-Identifier: Apache-2.0
//
// The forms of integer operations.
#include <algorithm>
#include <bit>

#include "lower/middle/maker.hpp"
#include "lower/passes/literal_divisor.hpp"

namespace wye::lower::middle {
namespace {

using ir::Kind;
using ir::Op;

class Integer {
  public:
    explicit Integer(Maker& maker) : m_(maker) {}

    StepId divide(bool remainder, std::optional<std::uint64_t> literal);
    StepId shift(bool left);
    StepId rotate(bool left, std::optional<std::uint64_t> literal);
    StepId bit_count();
    StepId leading_zeros();
    StepId trailing_zeros();
    StepId reverse();
    StepId mul_hi();
    StepId saturate(bool subtract);
    StepId absolute();
    StepId extreme(bool least);
    StepId clamp();
    StepId compare(Op op);
    StepId negate() {
        const StepId a = m_.operand();
        return m_.minus(m_.number(0), a);
    }

  private:
    StepId quotient_of_literal(StepId a, std::uint64_t divisor);
    StepId upper_half(StepId a, StepId c);
    StepId in_width(StepId count);
    // Shifts right, filling with zeros.
    StepId down(StepId a, unsigned count) {
        return count == 0 ? a : m_.right(m_.as(a, m_.word), m_.u32(count));
    }
    // Shifts right, arithmetically if the kind is signed.
    StepId down_signed(StepId a, unsigned count) {
        return count == 0 ? a : m_.right(a, m_.u32(count));
    }

    Maker& m_;
};

// Makes a quotient by a literal, without a division. A divisor of 0 counts as 1.
StepId Integer::quotient_of_literal(StepId a, std::uint64_t divisor) {
    const bool is_signed = m_.is_signed;
    const bool minus = is_signed && (divisor & m_.sign_bit()) != 0;
    const std::uint64_t size = minus ? (0 - divisor) & m_.all_ones() : divisor;
    const auto power = static_cast<unsigned>(std::countr_zero(std::max<std::uint64_t>(size, 1)));
    StepId quotient = 0;
    if (size <= std::uint64_t{1} << power) {
        if (is_signed && power != 0)  // rounds towards zero
            a = m_.plus(a, m_.as(down(down_signed(a, m_.bits - 1), m_.bits - power), m_.kind));
        quotient = down_signed(a, power);
    } else {
        const Reciprocal reciprocal = reciprocal_of(size, m_.bits, is_signed);
        const StepId factor = m_.number(reciprocal.factor);
        const StepId high = m_.as(upper_half(a, factor), m_.kind);
        if (is_signed) {
            const StepId below = m_.both_bits(down_signed(a, m_.bits - 1), factor);
            const StepId product = down_signed(m_.minus(high, below), reciprocal.shift);
            quotient = m_.plus(product, m_.as(down(a, m_.bits - 1), m_.kind));
        } else if (reciprocal.carries) {
            const StepId half = down(m_.minus(a, high), 1);
            quotient = down(m_.plus(high, half), reciprocal.shift - 1);
        } else {
            quotient = down(high, reciprocal.shift);
        }
    }
    return minus ? m_.minus(m_.number(0), quotient) : quotient;
}

// Makes a quotient or remainder. A select replaces an invalid divisor by 1. With a `literal`, there
// is no division.
StepId Integer::divide(bool remainder, std::optional<std::uint64_t> literal) {
    const StepId a = m_.operand();
    const QuirkSet& quirks = m_.target.quirks;
    const auto multiplied_back = [&](StepId quotient, StepId divisor) {
        return m_.minus(a, m_.op(Op::MUL, quotient, divisor));
    };
    if (literal) {
        if (remainder && !m_.is_signed && std::has_single_bit(*literal))
            return m_.both_bits(a, m_.number(*literal - 1));
        const StepId quotient = quotient_of_literal(a, *literal);
        if (!remainder) return quotient;
        return multiplied_back(quotient, m_.number(std::max<std::uint64_t>(*literal, 1)));
    }
    const StepId b = m_.operand();
    StepId bad = m_.equal(b, m_.number(0));
    if (m_.is_signed) {
        const StepId least = m_.equal(a, m_.number(m_.sign_bit()));
        bad = m_.either(bad, m_.both(least, m_.equal(b, m_.number(m_.all_ones()))));
    }
    const StepId divisor = m_.named("d", m_.select(bad, m_.number(1), b));
    if (m_.wide && quirks.has(Quirk::NvidiaVkWideDivision)) {
        const StepId quotient =
            m_.call(m_.is_signed ? "signed_quotient64" : "quotient64", m_.kind, {a, divisor});
        return remainder ? multiplied_back(quotient, divisor) : quotient;
    }
    if (remainder && !(m_.is_signed && quirks.has(Quirk::NvidiaVkSignedWords)))
        return m_.op(Op::REM, a, divisor);
    const StepId quotient =
        m_.hidden(Quirk::NvidiaVkOverflowByDivision, m_.op(Op::DIV, a, divisor));
    return remainder ? multiplied_back(quotient, divisor) : quotient;
}

StepId Integer::in_width(StepId count) {
    const StepId low = m_.both_bits(count, m_.u32(m_.bits - 1));
    return m_.wide ? m_.hidden(Quirk::LlvmpipeWideShift, low) : low;
}

StepId Integer::shift(bool left) {
    const StepId a = m_.operand();
    const StepId count = in_width(m_.operand(Kind::U32));
    return left ? m_.left(a, count) : m_.right(a, count);
}

// Makes a rotation from two shifts: by the count, and back by the width minus the count. In 64
// bits, with the quirk `ptxas-late-shift`, the second shift becomes two: by 1, and by the rest.
StepId Integer::rotate(bool left, std::optional<std::uint64_t> literal) {
    const StepId a = m_.as(m_.operand(), m_.word);
    const auto there = [&](StepId value, StepId by) {
        return left ? m_.left(value, by) : m_.right(value, by);
    };
    const auto back = [&](StepId value, StepId by) {
        return left ? m_.right(value, by) : m_.left(value, by);
    };
    if (literal) {
        const std::uint64_t last = m_.bits - 1;
        const StepId first = there(a, m_.u32(*literal & last));
        return m_.either_bits(first, back(a, m_.u32((m_.bits - (*literal & last)) & last)));
    }
    const StepId count = m_.operand(Kind::U32);
    const StepId first = there(a, in_width(count));
    if (m_.wide && m_.target.quirks.has(Quirk::PtxasLateShift)) {
        const StepId step = back(a, m_.u32(1));
        const StepId rest = m_.both_bits(m_.other_bits(count), m_.u32(m_.bits - 1));
        return m_.either_bits(first, back(step, rest));
    }
    return m_.either_bits(first, back(a, in_width(m_.minus(m_.u32(m_.bits), count))));
}

// Counts ones. A 64-bit count is the sum of the counts of both halves.
StepId Integer::bit_count() {
    const StepId a = m_.operand();
    if (m_.wide ? m_.target.counts64 : m_.target.counts32)
        return m_.make(Op::POPCOUNT, m_.kind, m_.kind, {a});
    if (m_.wide) {
        const FormKey ones = operation(Op::POPCOUNT, Kind::U32);
        const StepId low = m_.apply(ones, Kind::U32, {m_.low_word(a)});
        const StepId high = m_.apply(ones, Kind::U32, {m_.high_word(a)});
        return m_.convert(m_.plus(low, high), m_.kind);
    }
    // Adds groups of 2, 4 and 8 bits in parallel. A product then adds the bytes.
    const StepId pairs = m_.both_bits(m_.right(a, m_.u32(1)), m_.u32(0x55555555U));
    const StepId twos = m_.minus(a, pairs);
    const StepId odd = m_.both_bits(m_.right(twos, m_.u32(2)), m_.u32(0x33333333U));
    const StepId fours = m_.plus(m_.both_bits(twos, m_.u32(0x33333333U)), odd);
    const StepId sums = m_.plus(fours, m_.right(fours, m_.u32(4)));
    const StepId bytes = m_.both_bits(sums, m_.u32(0x0f0f0f0fU));
    return m_.right(m_.op(Op::MUL, bytes, m_.u32(0x01010101U)), m_.u32(24));
}

StepId Integer::leading_zeros() {
    const StepId a = m_.operand();
    if (m_.wide ? m_.target.counts64 : m_.target.counts32)
        return m_.make(Op::CLZ, m_.kind, m_.kind, {a});
    if (m_.wide) {
        const FormKey zeros = operation(Op::CLZ, Kind::U32);
        const StepId high = m_.high_word(a);
        const StepId below = m_.plus(m_.apply(zeros, Kind::U32, {m_.low_word(a)}), m_.u32(32));
        const StepId empty = m_.equal(high, m_.u32(0));
        const StepId above = m_.apply(zeros, Kind::U32, {high});
        return m_.convert(m_.select(empty, below, above), m_.kind);
    }
    // Sets all bits below the highest set bit, and counts the bits that are still zero.
    StepId spread = m_.as(a, Kind::U32);
    for (const unsigned step : {1U, 2U, 4U, 8U, 16U})
        spread = m_.either_bits(spread, m_.right(spread, m_.u32(step)));
    return m_.apply(operation(Op::POPCOUNT, Kind::U32), Kind::U32, {m_.other_bits(spread)});
}

// Counts the zeros below the lowest set bit.
StepId Integer::trailing_zeros() {
    const StepId a = m_.operand();
    const StepId below = m_.both_bits(m_.other_bits(a), m_.minus(a, m_.number(1)));
    return m_.apply(operation(Op::POPCOUNT, m_.kind), m_.kind, {below});
}

StepId Integer::reverse() {
    const StepId a = m_.as(m_.operand(), m_.word);
    if (m_.target.reverses32) {
        if (!m_.wide) return m_.make(Op::REVERSE_BITS, Kind::U32, Kind::U32, {a});
        const FormKey reversed = operation(Op::REVERSE_BITS, Kind::U32);
        const StepId low = m_.apply(reversed, Kind::U32, {m_.high_word(a)});
        return m_.join_words(low, m_.apply(reversed, Kind::U32, {m_.low_word(a)}));
    }
    StepId r = a;
    for (unsigned step = 1; step < m_.bits; step *= 2) {
        // A mask of alternating `step` ones and `step` zeros, from the low end.
        const std::uint64_t mask = m_.all_ones() / ((std::uint64_t{1} << step) + 1);
        const StepId odd = m_.both_bits(m_.right(r, m_.u32(step)), m_.literal(m_.word, mask));
        const StepId even = m_.left(m_.both_bits(r, m_.literal(m_.word, mask)), m_.u32(step));
        r = m_.either_bits(odd, even);
    }
    return r;
}

// Makes the upper half of an unsigned product.
StepId Integer::upper_half(StepId a, StepId c) {
    const StepId x = m_.as(a, m_.word);
    const StepId y = m_.as(c, m_.word);
    return m_.apply(operation(Op::MUL_HI, m_.word), m_.word, {x, y});
}

StepId Integer::mul_hi() {
    const StepId a = m_.operand();
    const StepId c = m_.operand();
    if (m_.wide ? m_.target.multiplies_high64 : m_.target.multiplies_high32)
        return m_.make(Op::MUL_HI, m_.kind, m_.kind, {a, c});
    if (m_.is_signed) {
        const StepId high = m_.as(upper_half(a, c), m_.kind);
        const StepId part = m_.minus(high, m_.select(m_.negative(a), c, m_.number(0)));
        return m_.minus(part, m_.select(m_.negative(c), a, m_.number(0)));
    }
    if (!m_.wide) {
        const StepId product = m_.op(Op::MUL, m_.convert(a, Kind::U64), m_.convert(c, Kind::U64));
        return m_.high_word(product);
    }
    // Multiplies 32-bit halves, and adds the carries of the lower products.
    const StepId mask = m_.number(0xffffffffU);
    const auto low = [&](StepId value) { return m_.both_bits(value, mask); };
    const auto high = [&](StepId value) { return m_.right(value, m_.u32(32)); };
    const auto times = [&](StepId x, StepId y) { return m_.op(Op::MUL, x, y); };
    const StepId p = times(low(a), low(c));
    const StepId q = m_.plus(times(high(a), low(c)), high(p));
    const StepId r = m_.plus(times(low(a), high(c)), low(q));
    return m_.plus(m_.plus(times(high(a), high(c)), high(q)), high(r));
}

StepId Integer::saturate(bool subtract) {
    const StepId a = m_.operand();
    const StepId b = m_.operand();
    if (!m_.is_signed && subtract) return m_.select(m_.less(a, b), m_.number(0), m_.minus(a, b));
    const StepId r = m_.named("r", subtract ? m_.minus(a, b) : m_.plus(a, b));
    if (!m_.is_signed) return m_.select(m_.less(r, a), m_.number(m_.all_ones()), r);
    // The result overflowed if its sign is wrong. The sign of `a` then gives the direction.
    const StepId other = m_.differing_bits(subtract ? a : b, subtract ? b : r);
    const StepId wrong = m_.both_bits(m_.differing_bits(a, r), other);
    const StepId end =
        m_.select(m_.negative(a), m_.number(m_.sign_bit()), m_.number(m_.sign_bit() - 1));
    return m_.select(m_.negative(wrong), end, r);
}

StepId Integer::absolute() {
    const StepId a = m_.operand();
    if (!m_.is_signed) return a;
    const StepId sign =
        m_.negative(m_.hidden(Quirk::NvidiaVkAbsMin, m_.hidden(Quirk::PtxasAbsMin, a)));
    return m_.select(sign, m_.minus(m_.number(0), a), a);
}

StepId Integer::extreme(bool least) {
    const StepId a = m_.operand();
    const StepId b = m_.operand();
    return m_.select(least ? m_.less(b, a) : m_.less(a, b), b, a);
}

StepId Integer::compare(Op op) {
    const StepId a = m_.operand();
    const StepId b = m_.operand();
    if (m_.target.orders_integers) return m_.test(op, a, b);
    switch (op) {
        case Op::NE:
            return m_.no(m_.equal(a, b));
        case Op::LE:
            return m_.no(m_.less(b, a));
        case Op::GT:
            return m_.less(b, a);
        default:
            return m_.no(m_.less(a, b));
    }
}

}  // namespace

bool make_integer(Maker& m, Form& form, Op op, std::optional<std::uint64_t> literal) {
    Integer integer(m);
    switch (op) {
        case Op::NEG:
            m.result(integer.negate());
            return true;
        case Op::DIV:
        case Op::REM:
            m.result(integer.divide(op == Op::REM, literal));
            return true;
        case Op::SHL:
        case Op::SHR:
            m.result(integer.shift(op == Op::SHL));
            return true;
        case Op::NE:
        case Op::LE:
        case Op::GT:
        case Op::GE:
            m.result(integer.compare(op));
            return true;
        case Op::ROTL:
        case Op::ROTR:
            m.result(integer.rotate(op == Op::ROTL, literal));
            return true;
        case Op::POPCOUNT:
            m.result(integer.bit_count());
            return true;
        case Op::CLZ:
            m.result(integer.leading_zeros());
            return true;
        case Op::CTZ:
            m.result(integer.trailing_zeros());
            return true;
        case Op::REVERSE_BITS:
            m.result(integer.reverse());
            return true;
        case Op::MUL_HI:
            m.result(integer.mul_hi());
            form.function = m.wide && !m.is_signed && !m.target.multiplies_high64;
            return true;
        case Op::ADD_SAT:
        case Op::SUB_SAT:
            m.result(integer.saturate(op == Op::SUB_SAT));
            return true;
        case Op::ABS:
            m.result(integer.absolute());
            return true;
        case Op::MIN:
        case Op::MAX:
            m.result(integer.extreme(op == Op::MIN));
            return true;
        default:
            return false;
    }
}

}  // namespace wye::lower::middle
