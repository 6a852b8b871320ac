// SPDX-License-Identifier: Apache-2.0
//
// Integer operations. All values are unsigned in type; signed operations say so themselves.
#include <algorithm>
#include <bit>

#include "lower/passes/literal_divisor.hpp"
#include "lower/spirv/library.hpp"
#include "lower/spirv/ops.hpp"

namespace wye::lower {
namespace {

using ir::Kind;
using ir::Op;

class Integer {
  public:
    Integer(SpirvBuilder& builder, Kind kind)
        : b_(builder),
          bits_(ir::Type{kind, 1}.bits()),
          wide_(bits_ == 64),
          signed_(ir::Type{kind, 1}.signed_integer()) {}

    Id write(Op op, std::span<const Id> v);

  private:
    Id number(std::uint64_t value) { return b_.module.number(bits_, value); }
    [[nodiscard]] std::uint64_t all_ones() const { return wide_ ? ~std::uint64_t{0} : 0xffffffffU; }
    [[nodiscard]] std::uint64_t sign_bit() const { return std::uint64_t{1} << (bits_ - 1); }
    Id add(Id a, Id c) { return b_.op(spv::Op::OpIAdd, a, c); }
    Id sub(Id a, Id c) { return b_.op(spv::Op::OpISub, a, c); }
    Id band(Id a, Id c) { return b_.op(spv::Op::OpBitwiseAnd, a, c); }
    Id bor(Id a, Id c) { return b_.op(spv::Op::OpBitwiseOr, a, c); }
    Id bxor(Id a, Id c) { return b_.op(spv::Op::OpBitwiseXor, a, c); }
    Id less(Id a, Id c) { return b_.less(a, c, signed_); }
    Id no(Id a) { return b_.make(spv::Op::OpLogicalNot, b_.module.bool_type(), {a}); }
    Id negative(Id a) {
        return b_.test(spv::Op::OpSLessThan, wide_ ? b_.high_word(a) : a, b_.u32(0));
    }
    Id mask_count(Id count) {
        if (const auto known = b_.module.known(count)) return b_.u32(*known & (bits_ - 1));
        const Id masked = b_.op(spv::Op::OpBitwiseAnd, count, b_.u32(bits_ - 1));
        return wide_ && b_.quirk(Quirk::LlvmpipeWideShift) ? b_.differing(Kind::U32, masked)
                                                           : masked;
    }

    Id quotient_of_literal(Id a, std::uint64_t divisor);
    Id divide(Id a, Id divisor, bool remainder);
    Id shift(Id a, Id count, bool left);
    Id rotate(Id a, Id count, bool left);
    Id bit_count(Id a);
    Id leading_zeros(Id a);
    Id trailing_zeros(Id a);
    Id reverse(Id a);
    Id upper_half(Id a, Id c);
    Id mul_hi(Id a, Id c);
    Id saturate(Id a, Id c, bool subtract);

    SpirvBuilder& b_;
    unsigned bits_;
    bool wide_, signed_;
};

// Without a division. A literal 0 stands for 1.
Id Integer::quotient_of_literal(Id a, std::uint64_t divisor) {
    const auto by = [&](spv::Op shift, Id value, unsigned count) {
        return count == 0 ? value : b_.op(shift, value, b_.u32(count));
    };
    constexpr auto kLogical = spv::Op::OpShiftRightLogical;
    constexpr auto kArithmetic = spv::Op::OpShiftRightArithmetic;
    const bool minus = signed_ && (divisor & sign_bit()) != 0;
    const std::uint64_t size = minus ? (0 - divisor) & all_ones() : divisor;
    const auto power = static_cast<unsigned>(std::countr_zero(std::max<std::uint64_t>(size, 1)));
    Id quotient = 0;
    if (size <= std::uint64_t{1} << power) {
        if (signed_ && power != 0)  // towards zero
            a = add(a, by(kLogical, by(kArithmetic, a, bits_ - 1), bits_ - power));
        quotient = by(signed_ ? kArithmetic : kLogical, a, power);
    } else {
        const Reciprocal reciprocal = reciprocal_of(size, bits_, signed_);
        const Id factor = number(reciprocal.factor);
        const Id high = upper_half(a, factor);
        if (signed_) {
            const Id product = sub(high, band(by(kArithmetic, a, bits_ - 1), factor));
            quotient = add(by(kArithmetic, product, reciprocal.shift), by(kLogical, a, bits_ - 1));
        } else if (reciprocal.carries) {
            quotient = by(kLogical, add(high, by(kLogical, sub(a, high), 1)), reciprocal.shift - 1);
        } else {
            quotient = by(kLogical, high, reciprocal.shift);
        }
    }
    return minus ? sub(number(0), quotient) : quotient;
}

// One select turns a bad divisor into 1.
Id Integer::divide(Id a, Id divisor, bool remainder) {
    const auto known = b_.module.known(divisor);
    if (known && remainder && !signed_ && std::has_single_bit(*known))
        return band(a, number(*known - 1));
    Id quotient = 0;
    if (known && b_.quirk(Quirk::NvidiaVkLiteralDivision)) {
        quotient = quotient_of_literal(a, *known);
        divisor = number(std::max<std::uint64_t>(*known, 1));
    } else {
        Id bad = b_.equal(divisor, number(0));
        if (signed_) {
            const Id least = b_.equal(a, number(sign_bit()));
            const Id minus_one = b_.equal(divisor, number(all_ones()));
            bad = b_.either(bad, b_.both(least, minus_one));
        }
        divisor = b_.select(bad, number(1), divisor);
        if (wide_ && b_.quirk(Quirk::NvidiaVkWideDivision))
            quotient =
                spirv_library_call(b_, signed_ ? "signed_quotient64" : "quotient64", {a, divisor});
        else if (remainder && !signed_)
            return b_.op(spv::Op::OpUMod, a, divisor);
        else if (remainder && !b_.quirk(Quirk::NvidiaVkSignedWords))
            return b_.op(spv::Op::OpSRem, a, divisor);
        else
            quotient = b_.disguised(Quirk::NvidiaVkOverflowByDivision,
                                    b_.op(signed_ ? spv::Op::OpSDiv : spv::Op::OpUDiv, a, divisor));
    }
    return remainder ? sub(a, b_.op(spv::Op::OpIMul, quotient, divisor)) : quotient;
}

Id Integer::shift(Id a, Id count, bool left) {
    count = mask_count(count);
    const spv::Op right = signed_ ? spv::Op::OpShiftRightArithmetic : spv::Op::OpShiftRightLogical;
    return b_.op(left ? spv::Op::OpShiftLeftLogical : right, a, count);
}

Id Integer::rotate(Id a, Id count, bool left) {
    const Id there = mask_count(count);
    const auto known = b_.module.known(count);
    const Id rest = known ? b_.u32(bits_ - (*known & (bits_ - 1)))
                          : b_.op(spv::Op::OpISub, b_.u32(bits_), count);
    const Id back = mask_count(rest);
    return bor(b_.op(spv::Op::OpShiftLeftLogical, a, left ? there : back),
               b_.op(spv::Op::OpShiftRightLogical, a, left ? back : there));
}

// Bit counts exist for 32 bits only: wide ones are made of halves.
Id Integer::bit_count(Id a) {
    const auto ones = [&](Id word) { return b_.op(spv::Op::OpBitCount, word); };
    if (!wide_) return ones(a);
    return b_.resize(b_.op(spv::Op::OpIAdd, ones(b_.low_word(a)), ones(b_.high_word(a))), 64);
}

Id Integer::leading_zeros(Id a) {
    const auto narrow = [&](Id word) {  // the highest bit's number is -1 for 0
        const Id top = b_.glsl(GLSLstd450FindUMsb, b_.module.int_type(32), {word});
        return b_.op(spv::Op::OpISub, b_.u32(31), top);
    };
    if (!wide_) return narrow(a);
    const Id high = b_.high_word(a);
    const Id below = b_.op(spv::Op::OpIAdd, narrow(b_.low_word(a)), b_.u32(32));
    const Id empty = b_.test(spv::Op::OpIEqual, high, b_.u32(0));
    return b_.resize(b_.select(empty, below, narrow(high)), 64);
}

// The ones below the lowest one.
Id Integer::trailing_zeros(Id a) {
    return bit_count(band(b_.op(spv::Op::OpNot, a), sub(a, number(1))));
}

Id Integer::reverse(Id a) {
    if (!wide_) return b_.op(spv::Op::OpBitReverse, a);
    return b_.join_words(b_.op(spv::Op::OpBitReverse, b_.high_word(a)),
                         b_.op(spv::Op::OpBitReverse, b_.low_word(a)));
}

// Of the product of two unsigned values.
Id Integer::upper_half(Id a, Id c) {
    if (wide_) return spirv_library_call(b_, "mul_hi64", {a, c});
    const Id word = b_.module.int_type(32);
    const Id both[] = {word, word};
    return b_.extract(b_.make(spv::Op::OpUMulExtended, b_.module.struct_type(both), {a, c}), word,
                      1);
}

Id Integer::mul_hi(Id a, Id c) {
    if (!wide_ && signed_) {
        const Id word = b_.module.int_type(32);
        const Id both[] = {word, word};
        return b_.extract(b_.make(spv::Op::OpSMulExtended, b_.module.struct_type(both), {a, c}),
                          word, 1);
    }
    const Id high = upper_half(a, c);
    if (!signed_) return high;
    const Id part = sub(high, b_.select(negative(a), c, number(0)));
    return sub(part, b_.select(negative(c), a, number(0)));
}

Id Integer::saturate(Id a, Id c, bool subtract) {
    const Id result = subtract ? sub(a, c) : add(a, c);
    if (!signed_) {
        const Id over = subtract ? less(a, c) : less(result, a);
        return b_.select(over, number(subtract ? 0 : all_ones()), result);
    }
    // The result overflowed when its sign is wrong; then the sign of `a` says to which side.
    const Id wrong = band(bxor(a, result), subtract ? bxor(a, c) : bxor(c, result));
    const Id end = b_.select(negative(a), number(sign_bit()), number(sign_bit() - 1));
    return b_.select(negative(wrong), end, result);
}

Id Integer::write(Op op, std::span<const Id> v) {
    switch (op) {
        case Op::NEG:
            return sub(number(0), v[0]);
        case Op::NOT:
            return b_.op(spv::Op::OpNot, v[0]);
        case Op::ADD:
            return add(v[0], v[1]);
        case Op::SUB:
            return sub(v[0], v[1]);
        case Op::MUL:
            return b_.op(spv::Op::OpIMul, v[0], v[1]);
        case Op::DIV:
            return divide(v[0], v[1], false);
        case Op::REM:
            return divide(v[0], v[1], true);
        case Op::AND:
            return band(v[0], v[1]);
        case Op::OR:
            return bor(v[0], v[1]);
        case Op::XOR:
            return bxor(v[0], v[1]);
        case Op::SHL:
            return shift(v[0], v[1], true);
        case Op::SHR:
            return shift(v[0], v[1], false);
        case Op::EQ:
            return b_.equal(v[0], v[1]);
        case Op::NE:
            return no(b_.equal(v[0], v[1]));
        case Op::LT:
            return less(v[0], v[1]);
        case Op::LE:
            return no(less(v[1], v[0]));
        case Op::GT:
            return less(v[1], v[0]);
        case Op::GE:
            return no(less(v[0], v[1]));
        case Op::ROTL:
            return rotate(v[0], v[1], true);
        case Op::ROTR:
            return rotate(v[0], v[1], false);
        case Op::POPCOUNT:
            return bit_count(v[0]);
        case Op::CLZ:
            return leading_zeros(v[0]);
        case Op::CTZ:
            return trailing_zeros(v[0]);
        case Op::REVERSE_BITS:
            return reverse(v[0]);
        case Op::MUL_HI:
            return mul_hi(v[0], v[1]);
        case Op::ADD_SAT:
            return saturate(v[0], v[1], false);
        case Op::SUB_SAT:
            return saturate(v[0], v[1], true);
        case Op::ABS:
            return b_.select(negative(b_.disguised(Quirk::NvidiaVkAbsMin, v[0])),
                             sub(number(0), v[0]), v[0]);
        case Op::MIN:
            return b_.select(less(v[1], v[0]), v[1], v[0]);
        case Op::MAX:
            return b_.select(less(v[0], v[1]), v[1], v[0]);
        default:
            return 0;
    }
}

}  // namespace

Id spirv_integer_operation(SpirvBuilder& b, Op op, Kind kind, std::span<const Id> operands) {
    return Integer(b, kind).write(op, operands);
}

}  // namespace wye::lower
