// SPDX-License-Identifier: Apache-2.0
//
// Makes the steps of one form. Used by one thread, once.
#pragma once

#include <initializer_list>

#include "lower/middle/forms.hpp"

namespace wye::lower::middle {

class Maker {
  public:
    // Makes a form whose operands have `kind`. operand(of) makes operands of other kinds.
    Maker(const Target& target, Form& form, ir::Kind kind)
        : target(target),
          kind(kind),
          bits(ir::Type{kind, 1}.bits()),
          wide(bits == 64),
          is_signed(ir::Type{kind, 1}.signed_integer()),
          word(wide ? ir::Kind::U64 : ir::Kind::U32),
          form_(form) {}

    const Target& target;
    const ir::Kind kind;
    const unsigned bits;
    const bool wide, is_signed;
    const ir::Kind word;  // the unsigned integer of the kind's width

    [[nodiscard]] std::uint64_t all_ones() const { return wide ? ~std::uint64_t{0} : 0xffffffffU; }
    [[nodiscard]] std::uint64_t sign_bit() const { return std::uint64_t{1} << (bits - 1); }
    [[nodiscard]] std::uint64_t infinity() const {
        return wide ? 0x7ff0000000000000U : 0x7f800000U;
    }

    // ---- Leaves
    StepId operand(ir::Kind of) {
        form_.takes[form_.operands] = of;
        return add({.how = Step::How::Operand, .kind = of, .extra = form_.operands++});
    }
    StepId operand() { return operand(kind); }
    StepId literal(ir::Kind of, std::uint64_t value) {
        return add({.how = Step::How::Literal, .kind = of, .extra = value});
    }
    StepId number(std::uint64_t value) { return literal(kind, value); }  // of the operands' kind
    StepId u32(std::uint64_t value) { return literal(ir::Kind::U32, value); }

    // ---- Words: with a result of the operands' kind, a boolean, or another kind
    StepId make(ir::Op op, ir::Kind result, ir::Kind from, std::initializer_list<StepId> parts) {
        Step step{.op = op, .kind = result, .from = from};
        for (const StepId part : parts) step.parts[step.count++] = part;
        return add(step);
    }
    StepId op(ir::Op what, StepId a, StepId b) {
        return make(what, form_.steps[a].kind, form_.steps[a].kind, {a, b});
    }
    StepId test(ir::Op what, StepId a, StepId b) {
        return make(what, ir::Kind::BOOL, form_.steps[a].kind, {a, b});
    }
    StepId plus(StepId a, StepId b) { return op(ir::Op::ADD, a, b); }
    StepId minus(StepId a, StepId b) { return op(ir::Op::SUB, a, b); }
    StepId both_bits(StepId a, StepId b) { return op(ir::Op::AND, a, b); }
    StepId either_bits(StepId a, StepId b) { return op(ir::Op::OR, a, b); }
    StepId differing_bits(StepId a, StepId b) { return op(ir::Op::XOR, a, b); }
    StepId other_bits(StepId a) {
        return make(ir::Op::NOT, form_.steps[a].kind, form_.steps[a].kind, {a});
    }
    // Shift by a count below the width. A right shift is arithmetic if the kind of `a` is signed.
    StepId left(StepId a, StepId count) { return op(ir::Op::SHL, a, count); }
    StepId right(StepId a, StepId count) { return op(ir::Op::SHR, a, count); }
    StepId both(StepId a, StepId b) { return op(ir::Op::LOGICAL_AND, a, b); }
    StepId either(StepId a, StepId b) { return op(ir::Op::LOGICAL_OR, a, b); }
    StepId no(StepId a) { return make(ir::Op::LOGICAL_NOT, ir::Kind::BOOL, ir::Kind::BOOL, {a}); }
    StepId less(StepId a, StepId b) { return test(ir::Op::LT, a, b); }
    StepId equal(StepId a, StepId b) { return test(ir::Op::EQ, a, b); }
    StepId greater(StepId a, StepId b) { return orders(a) ? test(ir::Op::GT, a, b) : less(b, a); }
    StepId at_least(StepId a, StepId b) {
        return orders(a) ? test(ir::Op::GE, a, b) : no(less(a, b));
    }
    StepId select(StepId condition, StepId yes, StepId otherwise) {
        const ir::Kind of = form_.steps[yes].kind;
        return make(ir::Op::SELECT, of, of, {condition, yes, otherwise});
    }
    StepId convert(StepId a, ir::Kind to, std::uint64_t extra = 0) {
        const StepId id = make(ir::Op::CONVERT, to, form_.steps[a].kind, {a});
        form_.steps[id].extra = extra;
        return id;
    }
    // Returns the value of kind `to` with the same bits. Signed and unsigned integers have the same
    // representation.
    StepId as(StepId a, ir::Kind to) { return make(ir::Op::BITCAST, to, form_.steps[a].kind, {a}); }
    StepId bits_of(StepId a) {
        return as(a, form_.steps[a].kind == ir::Kind::F64 ? ir::Kind::U64 : ir::Kind::U32);
    }
    StepId low_word(StepId a) { return convert(a, ir::Kind::U32); }
    StepId high_word(StepId a) {
        return convert(right(as(a, ir::Kind::U64), u32(32)), ir::Kind::U32);
    }
    StepId join_words(StepId low, StepId high) {
        return either_bits(convert(low, ir::Kind::U64),
                           left(convert(high, ir::Kind::U64), u32(32)));
    }

    // ---- Larger parts
    StepId apply(FormKey key, ir::Kind result, std::initializer_list<StepId> parts) {
        Step step{.how = Step::How::Form, .kind = result, .extra = key};
        step.from = form_.steps[*parts.begin()].kind;
        for (const StepId part : parts) step.parts[step.count++] = part;
        return add(step);
    }
    StepId call(const char* function, ir::Kind result, std::initializer_list<StepId> parts);
    StepId hidden(Quirk quirk, StepId a) {
        if (!target.quirks.has(quirk)) return a;
        form_.hides = true;
        return add({.how = Step::How::Hidden,
                    .kind = form_.steps[a].kind,
                    .from = form_.steps[a].kind,
                    .count = 1,
                    .parts = {a},
                    .extra = static_cast<std::uint64_t>(quirk)});
    }
    StepId named(const char* name, StepId id) {
        form_.steps[id].name = name;
        return id;
    }
    // Makes `id` the result, which is the last step.
    void result(StepId id) {
        if (id + 1U == form_.steps.size()) return;
        const ir::Kind of = form_.steps[id].kind;
        make(ir::Op::BITCAST, of, of, {id});
    }

    // Returns the bits of a float without its sign. The bits of a NaN are above those of infinity.
    StepId magnitude(StepId a) {
        const StepId held = bits_of(a);
        return both_bits(held, literal(form_.steps[held].kind, sign_bit() - 1));
    }
    StepId is_nan(StepId a) { return test(ir::Op::GT, magnitude(a), literal(word, infinity())); }
    // Whether an integer of the form's width is negative.
    StepId negative(StepId a) {
        if (target.sign_by_word && wide)
            return less(as(high_word(as(a, ir::Kind::U64)), ir::Kind::I32),
                        literal(ir::Kind::I32, 0));
        const ir::Kind with_sign = wide ? ir::Kind::I64 : ir::Kind::I32;
        return less(as(a, with_sign), literal(with_sign, 0));
    }

  private:
    [[nodiscard]] bool orders(StepId a) const {
        return ir::Type{form_.steps[a].kind, 1}.bits() != 64 || target.orders_integers ||
               form_.steps[a].kind == ir::Kind::F64;
    }
    StepId add(const Step& step) {
        form_.steps.push_back(step);
        return static_cast<StepId>(form_.steps.size() - 1);
    }

    Form& form_;
};

// The parts of Forms::find. Each returns false if the operation has no such form.
bool make_integer(Maker& m, Form& form, ir::Op op, std::optional<std::uint64_t> literal);
bool make_float(Maker& m, Form& form, ir::Op op);
bool make_half(Maker& m, Form& form, ir::Op op);
bool make_conversion(Maker& m, Form& form, ir::Kind to);
bool make_stored(Maker& m, Form& form);
bool make_loaded(Maker& m, Form& form, ir::Kind kind);
bool make_subgroup(Maker& m, Form& form, ir::Op op);
bool make_loop(Maker& m, Form& form, LoopPart part);

}  // namespace wye::lower::middle
