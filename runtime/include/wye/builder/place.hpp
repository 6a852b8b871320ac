// SPDX-License-Identifier: Apache-2.0
//
// A program's memory: buffers, tables, local arrays, variables, and the effects on them. Part of
// wye/builder.hpp; include that.
#pragma once

#include "wye/builder/expr.hpp"

namespace wye::builder {

// A buffer or `shared` array of a kernel. Valid for that kernel only.
struct Buffer {
    std::uint16_t index = 0;  // in declared order
    // Reads an element.
    [[nodiscard]] Expr operator[](const Expr& i) const {
        return Expr::node(WYE_OP_LOAD, index, {&i});
    }
};

// An array of constants of a kernel.
struct Table {
    std::uint16_t index = 0;
    // Reads an element.
    [[nodiscard]] Expr operator[](const Expr& i) const {
        return Expr::node(WYE_OP_LOAD_TABLE, index, {&i});
    }
};

// An array of one body, made by Body::array.
struct Array {
    std::uint32_t local = 0;
    // Reads an element.
    [[nodiscard]] Expr operator[](const Expr& i) const {
        Words words{detail::head(WYE_OP_LOAD_ARRAY), local};
        detail::append(words, i.words());
        return Expr(std::move(words));
    }
};

// A variable of one body, made by Body::var; as an expression, it is the variable's value.
struct Var : Expr {
    // The variable with this number in the body.
    explicit Var(std::uint32_t number)
        : Expr(Expr::leaf_with_word(WYE_OP_LOCAL, number)), local(number) {}
    std::uint32_t local;
};

// The element count of a buffer as u32, at most 2^32 - 1.
[[nodiscard]] inline Expr len(Buffer b) { return Expr::leaf(WYE_OP_LEN, b.index); }
// The exact element count of a buffer as u64.
[[nodiscard]] inline Expr len64(Buffer b) { return Expr::leaf(WYE_OP_LEN64, b.index); }
// The element count of a table.
[[nodiscard]] inline Expr len(Table t) { return Expr::leaf(WYE_OP_LEN_TABLE, t.index); }
// The element count of a table as u64.
[[nodiscard]] inline Expr len64(Table t) { return Expr::leaf(WYE_OP_LEN64_TABLE, t.index); }
// The element count of an array.
[[nodiscard]] inline Expr len(Array a) { return Expr::leaf_with_word(WYE_OP_LEN_ARRAY, a.local); }
// The element count of an array as u64.
[[nodiscard]] inline Expr len64(Array a) {
    return Expr::leaf_with_word(WYE_OP_LEN64_ARRAY, a.local);
}

// An operation with an effect: a whole statement (Body::run) or a whole right-hand side (let, var,
// set, store), never part of an expression.
class [[nodiscard]] Effect {
  public:
    // An operation with its operands.
    Effect(std::uint32_t op, std::uint32_t imm, std::initializer_list<const Expr*> operands)
        : words_(Expr::node(op, imm, operands).words()) {}
    // Its code in the wire form.
    [[nodiscard]] const Words& words() const { return words_; }

  private:
    Words words_;
};

// Reads an element atomically. The other atomics, except atomic_store, return the previous value.
inline Effect atomic_load(Buffer b, const Expr& i) { return {WYE_OP_ATOMIC_LOAD, b.index, {&i}}; }
#define WYE_BUILDER_ATOMIC(name, op)                                 \
    inline Effect name(Buffer b, const Expr& i, const Expr& value) { \
        return {WYE_OP_##op, b.index, {&i, &value}};                 \
    }
WYE_BUILDER_ATOMIC(atomic_store, ATOMIC_STORE)
WYE_BUILDER_ATOMIC(atomic_exchange, ATOMIC_EXCHANGE)
WYE_BUILDER_ATOMIC(atomic_add, ATOMIC_ADD)
WYE_BUILDER_ATOMIC(atomic_min, ATOMIC_MIN)
WYE_BUILDER_ATOMIC(atomic_max, ATOMIC_MAX)
WYE_BUILDER_ATOMIC(atomic_and, ATOMIC_AND)
WYE_BUILDER_ATOMIC(atomic_or, ATOMIC_OR)
WYE_BUILDER_ATOMIC(atomic_xor, ATOMIC_XOR)
#undef WYE_BUILDER_ATOMIC
// Writes `desired` if the element equals `expected`.
inline Effect atomic_cas(Buffer b, const Expr& i, const Expr& expected, const Expr& desired) {
    return {WYE_OP_ATOMIC_CAS, b.index, {&i, &expected, &desired}};
}
// Reads an element once for the whole workgroup.
inline Effect workgroup_uniform_load(Buffer b, const Expr& i) {
    return {WYE_OP_WORKGROUP_UNIFORM_LOAD, b.index, {&i}};
}

#define WYE_BUILDER_SUBGROUP1(name, op) \
    inline Effect name(const Expr& value) { return {WYE_OP_##op, 0, {&value}}; }
#define WYE_BUILDER_SUBGROUP2(name, op)                       \
    inline Effect name(const Expr& value, const Expr& lane) { \
        return {WYE_OP_##op, 0, {&value, &lane}};             \
    }
WYE_BUILDER_SUBGROUP2(subgroup_broadcast, SUBGROUP_BROADCAST)
WYE_BUILDER_SUBGROUP2(subgroup_shuffle, SUBGROUP_SHUFFLE)
WYE_BUILDER_SUBGROUP2(subgroup_shuffle_xor, SUBGROUP_SHUFFLE_XOR)
WYE_BUILDER_SUBGROUP1(subgroup_any, SUBGROUP_ANY)
WYE_BUILDER_SUBGROUP1(subgroup_all, SUBGROUP_ALL)
WYE_BUILDER_SUBGROUP1(subgroup_ballot, SUBGROUP_BALLOT)
WYE_BUILDER_SUBGROUP1(subgroup_add, SUBGROUP_ADD)
WYE_BUILDER_SUBGROUP1(subgroup_min, SUBGROUP_MIN)
WYE_BUILDER_SUBGROUP1(subgroup_max, SUBGROUP_MAX)
WYE_BUILDER_SUBGROUP1(subgroup_inclusive_add, SUBGROUP_INCLUSIVE_ADD)
WYE_BUILDER_SUBGROUP1(subgroup_exclusive_add, SUBGROUP_EXCLUSIVE_ADD)
WYE_BUILDER_SUBGROUP1(subgroup_and, SUBGROUP_AND)
WYE_BUILDER_SUBGROUP1(subgroup_or, SUBGROUP_OR)
WYE_BUILDER_SUBGROUP1(subgroup_xor, SUBGROUP_XOR)
#undef WYE_BUILDER_SUBGROUP1
#undef WYE_BUILDER_SUBGROUP2

// A right-hand side: an expression or an effect.
class Value {
  public:
    // An expression.
    Value(const Expr& e) : words_(e.words()) {}
    // An effect.
    Value(const Effect& e) : words_(e.words()) {}
    // A number.
    template <Scalar T>
    Value(T literal) : words_(Expr(literal).words()) {}
    // Its code in the wire form.
    [[nodiscard]] const Words& words() const { return words_; }

  private:
    Words words_;
};

}  // namespace wye::builder
