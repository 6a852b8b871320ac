// SPDX-License-Identifier: Apache-2.0
#include "lower/middle/forms.hpp"

#include "lower/middle/library.hpp"
#include "lower/middle/maker.hpp"

namespace wye::lower::middle {
namespace {

using ir::Kind;
using ir::Op;

const char* name_of(Op op) {
    switch (op) {
        case Op::NEG:
            return "neg";
        case Op::DIV:
            return "div";
        case Op::REM:
            return "rem";
        case Op::SHL:
            return "shl";
        case Op::SHR:
            return "shr";
        case Op::NE:
            return "ne";
        case Op::LE:
            return "le";
        case Op::GT:
            return "gt";
        case Op::GE:
            return "ge";
        default:
            return ir::op_text(op).data();
    }
}

std::string named(const std::string& name, Kind kind) {
    return name + "_" + ir::type_name({kind, 1});
}

bool make_plain(Maker& m, Op op) {
    const bool truth = (op >= Op::EQ && op <= Op::GE) || m.kind == Kind::BOOL;
    const bool one = op == Op::NOT || op == Op::LOGICAL_NOT;
    const StepId a = m.operand();
    const Kind result = truth ? Kind::BOOL : m.kind;
    if (one)
        m.make(op, result, m.kind, {a});
    else
        m.make(op, result, m.kind, {a, m.operand()});
    return true;
}

bool make_operation(const Target& target, Form& form, Op op, Kind kind,
                    std::optional<std::uint64_t> literal) {
    Maker m(target, form, kind);
    form.name = named(name_of(op), kind);
    if (is_plain(op, kind)) return make_plain(m, op);
    if (op == Op::CLAMP) {
        const StepId a = m.operand();
        const StepId least = m.operand();
        const StepId raised = m.apply(operation(Op::MAX, kind), kind, {a, least});
        m.apply(operation(Op::MIN, kind), kind, {raised, m.operand()});
        return true;
    }
    const ir::Type type{kind, 1};
    if (type.integer()) return make_integer(m, form, op, literal);
    if (kind == Kind::F16) return make_half(m, form, op);
    return type.floating() && make_float(m, form, op);
}

bool make_bitcast(const Target& target, Form& form, BitcastPart part) {
    const auto half_of = [&](Maker& m, StepId bits) {
        m.apply(loaded(Kind::F16), Kind::F16, {bits});
    };
    switch (part) {
        case BitcastPart::LowHalf: {
            Maker m(target, form, Kind::U32);
            half_of(m, m.both_bits(m.operand(), m.u32(0xffffU)));
            return true;
        }
        case BitcastPart::HighHalf: {
            Maker m(target, form, Kind::U32);
            half_of(m, m.right(m.operand(), m.u32(16)));
            return true;
        }
        case BitcastPart::Halves: {
            Maker m(target, form, Kind::F16);
            const StepId low = m.apply(stored(Kind::F16), Kind::U32, {m.operand()});
            const StepId high = m.apply(stored(Kind::F16), Kind::U32, {m.operand()});
            m.either_bits(low, m.left(high, m.u32(16)));
            return true;
        }
        case BitcastPart::LowWord: {
            Maker m(target, form, Kind::U64);
            m.low_word(m.operand());
            return true;
        }
        case BitcastPart::HighWord: {
            Maker m(target, form, Kind::U64);
            m.high_word(m.operand());
            return true;
        }
        case BitcastPart::JoinWords: {
            Maker m(target, form, Kind::U32);
            const StepId low = m.operand();
            m.join_words(low, m.operand());
            return true;
        }
    }
    return false;
}

bool make_form(const Target& target, Form& form, FormKey key) {
    const auto kind_in = [](unsigned number) { return static_cast<Kind>(number & 15U); };
    if (key < key::kConversions) {
        const unsigned number = key % key::kExact;
        const Op op = static_cast<Op>(key::kFirstOperation + number / 16);
        return make_operation(target, form, op, kind_in(number), std::nullopt);
    }
    if (key < key::kStored) {
        const Kind from = kind_in((key - key::kConversions) / 16U);
        Maker m(target, form, from);
        const Kind to = kind_in(key - key::kConversions);
        form.name = ir::type_name({from, 1}) + named("_to", to);
        return make_conversion(m, form, to);
    }
    if (key < key::kLoaded) {
        const Kind kind = kind_in(key - key::kStored);
        Maker m(target, form, kind);
        const bool narrow = kind == Kind::F16 || kind == Kind::BF16;
        form.name = narrow ? ir::type_name({kind, 1}) + "_bits" : named("canonical", kind);
        return make_stored(m, form);
    }
    if (key < key::kBitcasts) {
        Maker m(target, form, Kind::U32);
        const Kind kind = kind_in(key - key::kLoaded);
        form.name = ir::type_name({kind, 1}) + "_value";
        return make_loaded(m, form, kind);
    }
    if (key < key::kSubgroups)
        return make_bitcast(target, form, static_cast<BitcastPart>(key - key::kBitcasts));
    if (key == key::kInverseRoot) {
        Maker m(target, form, Kind::F32);
        form.name = "rsqrt_f32";
        return make_float(m, form, Op::RSQRT);
    }
    if (key >= key::kAddedBits) {
        const Kind kind = kind_in(key - key::kAddedBits);
        Maker m(target, form, kind);
        const StepId old = m.as(m.operand(m.word), kind);
        m.bits_of(m.plus(old, m.operand()));
        return true;
    }
    if (key >= key::kLoops) {
        Maker m(target, form, kind_in(key - key::kLoops));
        return make_loop(m, form, static_cast<LoopPart>((key - key::kLoops) / 16));
    }
    const unsigned number = key - key::kSubgroups;
    const Op op = static_cast<Op>(key::kFirstSubgroup + number / 16);
    Maker m(target, form, kind_in(number));
    form.name = named(name_of(op), kind_in(number));
    return make_subgroup(m, form, op);
}

}  // namespace

const Form* Forms::make(FormKey key) {
    Form form;
    form.steps.reserve(24);
    if (!make_form(target_, form, key)) {
        found_[key] = kNoForm;
        return nullptr;
    }
    forms_.push_back(std::move(form));
    found_[key] = static_cast<std::uint16_t>(forms_.size());
    return &forms_.back();
}

std::optional<std::uint64_t> Forms::word_with_literal(Op op, Kind kind,
                                                      std::uint64_t literal) const {
    const ir::Type type{kind, 1};
    if (op == Op::SHL || op == Op::SHR) return literal & (type.bits() - 1);
    if (op != Op::DIV && op != Op::REM) return std::nullopt;
    const std::uint64_t minus_one = type.bits() == 64 ? ~std::uint64_t{0} : 0xffffffffU;
    if (target_.quirks.has(Quirk::NvidiaVkLiteralDivision) || literal == 0 ||
        (type.signed_integer() && literal == minus_one))
        return std::nullopt;
    return literal;
}

const Form* Forms::with_literal(Op op, Kind kind, std::uint64_t literal) {
    const bool rotates = op == Op::ROTL || op == Op::ROTR;
    if (rotates ? !target_.rotates_by_literals
                : !target_.quirks.has(Quirk::NvidiaVkLiteralDivision))
        return nullptr;
    const auto [at, fresh] = with_literals_.try_emplace({operation(op, kind), literal});
    if (fresh) make_operation(target_, at->second, op, kind, literal);
    return &at->second;
}

StepId Maker::call(const char* function, Kind result, std::initializer_list<StepId> parts) {
    Step step{.how = Step::How::Call, .kind = result};
    step.from = form_.steps[*parts.begin()].kind;
    step.extra = emulation_index(function);
    for (const StepId part : parts) step.parts[step.count++] = part;
    return add(step);
}

}  // namespace wye::lower::middle
