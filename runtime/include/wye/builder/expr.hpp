// SPDX-License-Identifier: Apache-2.0
//
// The builder's expressions: an Expr holds its wire words, and operators combine them. Types are
// not checked here. Part of wye/builder.hpp; include that.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "wye/builder/types.hpp"

namespace wye::builder {

// Code of the wire form.
using Words = std::vector<std::uint32_t>;

namespace detail {

[[nodiscard]] constexpr std::uint32_t head(std::uint32_t op, std::uint32_t imm = 0) {
    return (op & 0xffffU) | (imm << 16U);
}

inline void append(Words& to, const Words& from) { to.insert(to.end(), from.begin(), from.end()); }

}  // namespace detail

// An expression of the language: its code in the wire form.
class Expr {
  public:
    // A literal of the language's type for T: 1 is i32, 1u is u32, 1.0f is f32, 1.0 is f64.
    template <Scalar T>
    Expr(T value) {
        literal(type_of<T>(), bits_of(value));
    }
    // An expression from its code in the wire form.
    explicit Expr(Words words) : words_(std::move(words)) {}

    // The first component of a vector.
    [[nodiscard]] Expr x() const { return component(0); }
    // The second component of a vector.
    [[nodiscard]] Expr y() const { return component(1); }
    // The third component of a vector.
    [[nodiscard]] Expr z() const { return component(2); }
    // The fourth component of a vector.
    [[nodiscard]] Expr w() const { return component(3); }

    // Its code in the wire form.
    [[nodiscard]] const Words& words() const { return words_; }

    // A literal of any scalar type from its bits, for types that C++20 lacks (f16).
    [[nodiscard]] static Expr bits(Type type, std::uint64_t bits) {
        Expr e{Words{}};
        e.literal(type, bits);
        return e;
    }
    // An operation with its operands.
    [[nodiscard]] static Expr node(std::uint32_t op, std::uint32_t imm,
                                   std::initializer_list<const Expr*> operands) {
        Words words{detail::head(op, imm)};
        for (const Expr* operand : operands) detail::append(words, operand->words_);
        return Expr(std::move(words));
    }
    // An operation without operands.
    [[nodiscard]] static Expr leaf(std::uint32_t op, std::uint32_t imm) {
        return Expr(Words{detail::head(op, imm)});
    }
    // An operation without operands, followed by a word.
    [[nodiscard]] static Expr leaf_with_word(std::uint32_t op, std::uint32_t word) {
        return Expr(Words{detail::head(op), word});
    }

  private:
    void literal(Type type, std::uint64_t bits) {
        const unsigned kind = type.code & 0xffU;
        words_ = {detail::head(WYE_OP_LITERAL, type.code), static_cast<std::uint32_t>(bits)};
        if (kind == WYE_KIND_I64 || kind == WYE_KIND_U64 || kind == WYE_KIND_F64)
            words_.push_back(static_cast<std::uint32_t>(bits >> 32U));
    }
    [[nodiscard]] Expr component(std::uint32_t index) const {
        return node(WYE_OP_COMPONENT, index, {this});
    }

    Words words_;
};

// Operators, with the language's meaning.
#define WYE_BUILDER_PREFIX(symbol, op)                         \
    [[nodiscard]] inline Expr operator symbol(const Expr& a) { \
        return Expr::node(WYE_OP_##op, 0, {&a});               \
    }
WYE_BUILDER_PREFIX(-, NEG)
WYE_BUILDER_PREFIX(~, NOT)
WYE_BUILDER_PREFIX(!, LOGICAL_NOT)
#undef WYE_BUILDER_PREFIX
#define WYE_BUILDER_INFIX(symbol, op)                                         \
    [[nodiscard]] inline Expr operator symbol(const Expr& a, const Expr& b) { \
        return Expr::node(WYE_OP_##op, 0, {&a, &b});                          \
    }
WYE_BUILDER_INFIX(+, ADD)
WYE_BUILDER_INFIX(-, SUB)
WYE_BUILDER_INFIX(*, MUL)
WYE_BUILDER_INFIX(/, DIV)
WYE_BUILDER_INFIX(%, REM)
WYE_BUILDER_INFIX(&, AND)
WYE_BUILDER_INFIX(|, OR)
WYE_BUILDER_INFIX(^, XOR)
WYE_BUILDER_INFIX(<<, SHL)
WYE_BUILDER_INFIX(>>, SHR)
WYE_BUILDER_INFIX(&&, LOGICAL_AND)
WYE_BUILDER_INFIX(||, LOGICAL_OR)
WYE_BUILDER_INFIX(==, EQ)
WYE_BUILDER_INFIX(!=, NE)
WYE_BUILDER_INFIX(<, LT)
WYE_BUILDER_INFIX(<=, LE)
WYE_BUILDER_INFIX(>, GT)
WYE_BUILDER_INFIX(>=, GE)
#undef WYE_BUILDER_INFIX

// Functions of the language.
#define WYE_BUILDER_CALL1(name, op) \
    [[nodiscard]] inline Expr name(const Expr& a) { return Expr::node(WYE_OP_##op, 0, {&a}); }
#define WYE_BUILDER_CALL2(name, op)                                \
    [[nodiscard]] inline Expr name(const Expr& a, const Expr& b) { \
        return Expr::node(WYE_OP_##op, 0, {&a, &b});               \
    }
#define WYE_BUILDER_CALL3(name, op)                                               \
    [[nodiscard]] inline Expr name(const Expr& a, const Expr& b, const Expr& c) { \
        return Expr::node(WYE_OP_##op, 0, {&a, &b, &c});                          \
    }
WYE_BUILDER_CALL2(rotl, ROTL)
WYE_BUILDER_CALL2(rotr, ROTR)
WYE_BUILDER_CALL1(popcount, POPCOUNT)
WYE_BUILDER_CALL1(clz, CLZ)
WYE_BUILDER_CALL1(ctz, CTZ)
WYE_BUILDER_CALL1(reverse_bits, REVERSE_BITS)
WYE_BUILDER_CALL2(mul_hi, MUL_HI)
WYE_BUILDER_CALL2(add_sat, ADD_SAT)
WYE_BUILDER_CALL2(sub_sat, SUB_SAT)
WYE_BUILDER_CALL1(abs, ABS)
WYE_BUILDER_CALL2(min, MIN)
WYE_BUILDER_CALL2(max, MAX)
WYE_BUILDER_CALL3(clamp, CLAMP)
WYE_BUILDER_CALL1(sqrt, SQRT)
WYE_BUILDER_CALL3(fma, FMA)
WYE_BUILDER_CALL2(copysign, COPYSIGN)
WYE_BUILDER_CALL1(floor, FLOOR)
WYE_BUILDER_CALL1(ceil, CEIL)
WYE_BUILDER_CALL1(trunc, TRUNC)
WYE_BUILDER_CALL1(round, ROUND)
WYE_BUILDER_CALL1(isnan, ISNAN)
WYE_BUILDER_CALL1(isinf, ISINF)
WYE_BUILDER_CALL1(any, ANY)
WYE_BUILDER_CALL1(all, ALL)
WYE_BUILDER_CALL1(exp, EXP)
WYE_BUILDER_CALL1(exp2, EXP2)
WYE_BUILDER_CALL1(exp10, EXP10)
WYE_BUILDER_CALL1(log, LOG)
WYE_BUILDER_CALL1(log2, LOG2)
WYE_BUILDER_CALL1(log10, LOG10)
WYE_BUILDER_CALL1(sin, SIN)
WYE_BUILDER_CALL1(cos, COS)
WYE_BUILDER_CALL1(tan, TAN)
WYE_BUILDER_CALL1(asin, ASIN)
WYE_BUILDER_CALL1(acos, ACOS)
WYE_BUILDER_CALL1(atan, ATAN)
WYE_BUILDER_CALL2(atan2, ATAN2)
WYE_BUILDER_CALL1(sinh, SINH)
WYE_BUILDER_CALL1(cosh, COSH)
WYE_BUILDER_CALL1(tanh, TANH)
WYE_BUILDER_CALL2(pow, POW)
WYE_BUILDER_CALL1(rsqrt, RSQRT)
WYE_BUILDER_CALL1(cbrt, CBRT)
WYE_BUILDER_CALL2(hypot, HYPOT)
WYE_BUILDER_CALL1(erf, ERF)
// Functions of math set 2.
WYE_BUILDER_CALL1(expm1, EXPM1)
WYE_BUILDER_CALL1(log1p, LOG1P)
WYE_BUILDER_CALL1(sinpi, SINPI)
WYE_BUILDER_CALL1(cospi, COSPI)
WYE_BUILDER_CALL3(select, SELECT)  // (condition, if_true, if_false)
#undef WYE_BUILDER_CALL1
#undef WYE_BUILDER_CALL2
#undef WYE_BUILDER_CALL3

// T(x): converts between numeric types with the same number of lanes, or from bool.
[[nodiscard]] inline Expr convert(Type to, const Expr& value) {
    return Expr::node(WYE_OP_CONVERT, to.code, {&value});
}
// Makes a vector whose components all equal one scalar.
[[nodiscard]] inline Expr splat(Type to, const Expr& value) {
    return Expr::node(WYE_OP_SPLAT, to.code, {&value});
}
// Reinterprets the bits as another type of the same size.
[[nodiscard]] inline Expr bitcast(Type to, const Expr& value) {
    return Expr::node(WYE_OP_BITCAST, to.code, {&value});
}
// Makes a vector from one scalar for each component.
template <typename... Parts>
[[nodiscard]] Expr construct(Type to, const Parts&... parts) {
    Words words{detail::head(WYE_OP_CONSTRUCT, to.code)};
    (detail::append(words, Expr(parts).words()), ...);
    return Expr(std::move(words));
}

// Built-in values, as in `global_id().x()`.
#define WYE_BUILDER_BUILTIN(name, upper) \
    [[nodiscard]] inline Expr name() { return Expr::leaf(WYE_OP_BUILTIN, WYE_BUILTIN_##upper); }
WYE_BUILDER_BUILTIN(workgroup_id, WORKGROUP_ID)
WYE_BUILDER_BUILTIN(local_id, LOCAL_ID)
WYE_BUILDER_BUILTIN(global_id, GLOBAL_ID)
WYE_BUILDER_BUILTIN(num_workgroups, NUM_WORKGROUPS)
WYE_BUILDER_BUILTIN(workgroup_size, WORKGROUP_SIZE)
WYE_BUILDER_BUILTIN(local_index, LOCAL_INDEX)
WYE_BUILDER_BUILTIN(subgroup_size, SUBGROUP_SIZE)
WYE_BUILDER_BUILTIN(num_subgroups, NUM_SUBGROUPS)
WYE_BUILDER_BUILTIN(subgroup_id, SUBGROUP_ID)
WYE_BUILDER_BUILTIN(subgroup_lane, SUBGROUP_LANE)
#undef WYE_BUILDER_BUILTIN

}  // namespace wye::builder
