// SPDX-License-Identifier: Apache-2.0
//
// Spells the middle form of scalar operations: each step takes one or two instructions.
#include "lower/spirv/words.hpp"
#include "lower/middle/library.hpp"
#include "lower/middle/literal_arithmetic.hpp"
#include "lower/passes/native_functions.hpp"
#include "lower/spirv/writer.hpp"

namespace wye::lower {
namespace {

using ir::Kind;
using ir::Op;
using middle::Form;
using middle::FormKey;
using middle::Step;

Id integer_word(SpirvBuilder& b, Op op, Kind kind, std::span<const Id> v) {
    const bool is_signed = ir::Type{kind, 1}.signed_integer();
    switch (op) {
        case Op::ADD:
            return b.op(spv::Op::OpIAdd, v[0], v[1]);
        case Op::SUB:
            return b.op(spv::Op::OpISub, v[0], v[1]);
        case Op::MUL:
            return b.op(spv::Op::OpIMul, v[0], v[1]);
        case Op::DIV:
            return b.op(is_signed ? spv::Op::OpSDiv : spv::Op::OpUDiv, v[0], v[1]);
        case Op::REM:
            return b.op(is_signed ? spv::Op::OpSRem : spv::Op::OpUMod, v[0], v[1]);
        case Op::AND:
            return b.op(spv::Op::OpBitwiseAnd, v[0], v[1]);
        case Op::OR:
            return b.op(spv::Op::OpBitwiseOr, v[0], v[1]);
        case Op::XOR:
            return b.op(spv::Op::OpBitwiseXor, v[0], v[1]);
        case Op::NOT:
            return b.op(spv::Op::OpNot, v[0]);
        case Op::SHL:
            return b.op(spv::Op::OpShiftLeftLogical, v[0], v[1]);
        case Op::SHR:
            return b.op(is_signed ? spv::Op::OpShiftRightArithmetic : spv::Op::OpShiftRightLogical,
                        v[0], v[1]);
        case Op::EQ:
            return b.equal(v[0], v[1]);
        case Op::LT:
            return b.less(v[0], v[1], is_signed);
        case Op::GT:
            return b.test(is_signed ? spv::Op::OpSGreaterThan : spv::Op::OpUGreaterThan, v[0],
                          v[1]);
        case Op::GE:
            return b.test(is_signed ? spv::Op::OpSGreaterThanEqual : spv::Op::OpUGreaterThanEqual,
                          v[0], v[1]);
        case Op::POPCOUNT:
            return b.op(spv::Op::OpBitCount, v[0]);
        case Op::CLZ: {  // the number of the highest bit is -1 for 0
            const Id top = b.glsl(GLSLstd450FindUMsb, b.module.int_type(32), {v[0]});
            return b.op(spv::Op::OpISub, b.u32(31), top);
        }
        case Op::REVERSE_BITS:
            return b.op(spv::Op::OpBitReverse, v[0]);
        case Op::MUL_HI: {
            const Id word = b.module.int_type(32);
            const Id both[] = {word, word};
            const spv::Op product = is_signed ? spv::Op::OpSMulExtended : spv::Op::OpUMulExtended;
            return b.extract(b.make(product, b.module.struct_type(both), {v[0], v[1]}), word, 1);
        }
        default:
            return 0;
    }
}

Id float_word(SpirvBuilder& b, Op op, Kind kind, std::span<const Id> v) {
    switch (op) {
        case Op::ADD:
            return b.arithmetic(spv::Op::OpFAdd, kind, {v[0], v[1]});
        case Op::SUB:
            return b.arithmetic(spv::Op::OpFSub, kind, {v[0], v[1]});
        case Op::MUL:
            return b.arithmetic(spv::Op::OpFMul, kind, {v[0], v[1]});
        case Op::DIV:
            return b.arithmetic(spv::Op::OpFDiv, kind, {v[0], v[1]});
        case Op::SQRT:
            return b.exact_glsl(GLSLstd450Sqrt, kind, {v[0]});
        case Op::RSQRT:
            return b.exact_glsl(GLSLstd450InverseSqrt, kind, {v[0]});
        case Op::FMA:
            return b.exact_glsl(GLSLstd450Fma, kind, {v[0], v[1], v[2]});
        case Op::FLOOR:
            return b.exact(b.glsl(GLSLstd450Floor, b.module.type_of(v[0]), {v[0]}));
        case Op::CEIL:
            return b.exact(b.glsl(GLSLstd450Ceil, b.module.type_of(v[0]), {v[0]}));
        case Op::TRUNC:
            return b.exact(b.glsl(GLSLstd450Trunc, b.module.type_of(v[0]), {v[0]}));
        case Op::ROUND:
            return b.exact(b.glsl(GLSLstd450RoundEven, b.module.type_of(v[0]), {v[0]}));
        case Op::EQ:
            return b.test(spv::Op::OpFOrdEqual, v[0], v[1]);
        case Op::NE:
            return b.test(spv::Op::OpFUnordNotEqual, v[0], v[1]);
        case Op::LT:
            return b.test(spv::Op::OpFOrdLessThan, v[0], v[1]);
        case Op::LE:
            return b.test(spv::Op::OpFOrdLessThanEqual, v[0], v[1]);
        case Op::GT:
            return b.test(spv::Op::OpFOrdGreaterThan, v[0], v[1]);
        case Op::GE:
            return b.test(spv::Op::OpFOrdGreaterThanEqual, v[0], v[1]);
        default:
            return 0;
    }
}

Id truth_word(SpirvBuilder& b, Op op, std::span<const Id> v) {
    switch (op) {
        case Op::LOGICAL_NOT:
            return b.op(spv::Op::OpLogicalNot, v[0]);
        case Op::LOGICAL_AND:
            return b.both(v[0], v[1]);
        case Op::LOGICAL_OR:
            return b.either(v[0], v[1]);
        case Op::EQ:
            return b.test(spv::Op::OpLogicalEqual, v[0], v[1]);
        case Op::NE:
            return b.test(spv::Op::OpLogicalNotEqual, v[0], v[1]);
        default:
            return 0;
    }
}

Id plain_word(SpirvBuilder& b, Op op, Kind kind, std::span<const Id> v) {
    const ir::Type type{kind, 1};
    if (type.integer()) return integer_word(b, op, kind, v);
    if (type.boolean()) return truth_word(b, op, v);
    return float_word(b, op, kind == Kind::F16 ? Kind::F32 : kind, v);
}

// Writes a conversion. Its operand is in range, so nothing saturates.
Id convert_word(SpirvBuilder& b, const Step& step, Id value) {
    const ir::Type source{step.from, 1};
    const ir::Type target{step.kind, 1};
    SpirvModule& m = b.module;
    const Id type = m.value_type(step.kind);
    if (source.floating() && target.floating()) {
        const bool arithmetic = step.extra == middle::kOfArithmetic;
        if (arithmetic && step.kind == Kind::F64) value = b.hidden(step.from, value);
        const Id result = b.make(spv::Op::OpFConvert, type, {value});
        return arithmetic ? b.mark_hidden(result) : result;
    }
    if (target.floating())
        return source.signed_integer() ? b.make(spv::Op::OpConvertSToF, type, {b.as_signed(value)})
                                       : b.make(spv::Op::OpConvertUToF, type, {value});
    if (source.floating())
        return target.signed_integer()
                   ? b.bitcast(b.make(spv::Op::OpConvertFToS, m.signed_type(type), {value}), type)
                   : b.make(spv::Op::OpConvertFToU, type, {value});
    const bool extends = source.signed_integer() && target.bits() > source.bits();
    return b.make(extends ? spv::Op::OpSConvert : spv::Op::OpUConvert, type, {value});
}

Id word(SpirvBuilder& b, const Step& step, std::span<const Id> v) {
    using spv::Capability;
    const auto group = [&](spv::Op how, Capability capability) {
        SpirvModule& m = b.module;
        m.capability(Capability::GroupNonUniform);
        m.capability(capability);
        Words all{b.u32(static_cast<std::uint32_t>(spv::Scope::Subgroup))};
        all.insert(all.end(), v.begin(), v.end());
        return b.make(how, m.value_type(step.kind), all);
    };
    switch (step.op) {
        case Op::SUBGROUP_SHUFFLE:
            return group(spv::Op::OpGroupNonUniformShuffle, Capability::GroupNonUniformShuffle);
        case Op::SUBGROUP_SHUFFLE_XOR:
            return group(spv::Op::OpGroupNonUniformShuffleXor, Capability::GroupNonUniformShuffle);
        case Op::SUBGROUP_ANY:
            return group(spv::Op::OpGroupNonUniformAny, Capability::GroupNonUniformVote);
        case Op::SUBGROUP_ALL:
            return group(spv::Op::OpGroupNonUniformAll, Capability::GroupNonUniformVote);
        case Op::SELECT:
            return b.select(v[0], v[1], v[2]);
        case Op::CONVERT:
            return convert_word(b, step, v[0]);
        case Op::BITCAST:
            return b.bitcast(v[0], b.module.value_type(step.kind));
        default:
            return plain_word(b, step.op, step.from, v);
    }
}

Id hidden(SpirvBuilder& b, const Step& step, Id value) {
    const auto quirk = static_cast<Quirk>(step.extra);
    const bool by_lane = quirk == Quirk::LlvmpipeWideShift || quirk == Quirk::LlvmpipeRoundedZero ||
                         quirk == Quirk::MesaOneBesideZero;
    return by_lane ? b.differing(step.kind, value) : b.disguised(quirk, value);
}

Id call_function(SpirvBuilder& b, Id function, Kind result, std::span<const Id> operands) {
    Words all{function};
    for (const Id operand : operands) all.push_back(b.not_one(operand));
    return b.make(spv::Op::OpFunctionCall, b.module.value_type(result), all);
}

Id emulation(SpirvBuilder& b, const Step& step, std::span<const Id> operands) {
    SpirvContext& context = b.context;
    const ir::Program& program = middle::emulations();
    if (!context.library)
        context.library.emplace(program, program.workgroup, context.forms.target(), false);
    const Id function =
        spirv_function(context, *context.library, static_cast<std::uint32_t>(step.extra));
    return call_function(b, function, step.kind, operands);
}

Id spell(SpirvBuilder& b, const Form& form, std::span<const Id> operands) {
    std::array<Id, middle::kMostSteps> values;
    std::size_t next = 0;
    for (const Step& step : form.steps) {
        std::array<Id, 3> parts{};
        for (unsigned k = 0; k < step.count; ++k) parts[k] = values[step.parts[k]];
        const std::span<const Id> v(parts.data(), step.count);
        Id& made = values[next++];
        switch (step.how) {
            case Step::How::Operand:
                made = operands[step.extra];
                break;
            case Step::How::Literal:
                made = b.module.literal(step.kind, step.extra);
                break;
            case Step::How::Word:
                made = word(b, step, v);
                break;
            case Step::How::Form:
                made = spirv_form(b, static_cast<FormKey>(step.extra), v);
                break;
            case Step::How::Call:
                made = emulation(b, step, v);
                break;
            case Step::How::Hidden:
                made = hidden(b, step, v[0]);
                break;
        }
    }
    return values[next - 1];
}

// Returns the function of a long form, which the module contains once.
Id function_of(SpirvContext& context, FormKey key, const Form& form) {
    Id& known = context.form_functions[key];
    if (known != 0) return known;
    const Id id = known = context.module.fresh();
    context.module.name(id, form.name);
    SpirvBuilder b(context);
    std::vector<std::pair<Id, Id>> parameters;
    std::array<Id, 3> operands{};
    for (unsigned k = 0; k < form.operands; ++k) {
        const Id type = context.module.value_type(form.takes[k]);
        operands[k] = context.module.typed(context.module.fresh(), type);
        parameters.emplace_back(operands[k], type);
    }
    const Id result = spell(b, form, std::span<const Id>(operands.data(), form.operands));
    b.end(spv::Op::OpReturnValue, {b.not_one(result)});
    context.module.add_function(
        b.finish(id, context.module.value_type(form.result().kind), parameters));
    return id;
}

// For the quirk `vk-literal-arithmetic`, computes operations on literals here.
std::optional<Id> folded(SpirvBuilder& b, Op op, Kind kind, std::span<const Id> v) {
    if (!b.quirk(Quirk::VkLiteralArithmetic) || (kind != Kind::F32 && kind != Kind::F64)) return {};
    std::array<std::uint64_t, 3> operands{};
    for (std::size_t k = 0; k < v.size(); ++k) {
        const auto known = b.module.known(v[k]);
        if (!known) return {};
        operands[k] = *known;
    }
    const auto result = middle::literal_arithmetic(op, kind, operands);
    if (!result) return {};
    return b.module.literal(kind, *result);
}

Id exact_operation(SpirvBuilder& b, Op op, Kind kind, std::span<const Id> v) {
    if (const auto known = folded(b, op, kind, v)) return *known;
    if (middle::is_plain(op, kind)) return plain_word(b, op, kind, v);
    if (middle::asks_for_literal(op, kind))
        if (const auto literal = b.module.known(v[1])) {
            if (const auto word = b.context.forms.word_with_literal(op, kind, *literal)) {
                const bool shifts = op == Op::SHL || op == Op::SHR;
                const Id parts[] = {v[0], b.module.literal(shifts ? Kind::U32 : kind, *word)};
                return integer_word(b, op, kind, parts);
            }
            if (const Form* form = b.context.forms.with_literal(op, kind, *literal))
                return spell(b, *form, v.first(1));
        }
    const FormKey key = op == Op::RSQRT ? middle::key::kInverseRoot : middle::operation(op, kind);
    const Form* form = b.context.forms.find(key);
    if (form == nullptr) {
        b.context.refuse(ir::op_text(op));
        return v.empty() ? b.module.null(b.module.value_type(kind)) : v[0];
    }
    if (form->function)
        return call_function(b, function_of(b.context, key, *form), form->result().kind, v);
    return spell(b, *form, v);
}

// Rounds to the nearest f16, held as f32.
Id native_round_to_half(SpirvBuilder& b, Id value) {
    if (b.quirk(Quirk::LlvmIntegerThroughHalf)) value = b.hidden(Kind::F32, value);
    const Id half = b.make(spv::Op::OpFConvert, b.module.float_type(16), {value});
    return b.make(spv::Op::OpFConvert, b.module.float_type(32), {half});
}

}  // namespace

middle::Target spirv_target(const TargetFacts& facts, std::uint32_t subgroup) {
    middle::Target target;
    target.counts32 = target.reverses32 = target.multiplies_high32 = true;
    target.exact = {facts.native_f32_div, facts.native_f32_sqrt, facts.native_f32_fma,
                    facts.native_f64_div, facts.native_f64_sqrt, facts.native_f64_fma};
    target.near_inverse_root = true;
    target.rounds_f32 = facts.native_f32_round;
    target.rounds_f64 = facts.native_f64_round;
    target.sign_by_word = target.rotates_by_literals = target.emulates = true;
    target.subgroup = subgroup;
    target.shuffles_words_only = target.votes = true;
    target.f64 = facts.f64;
    target.adds_f32 = facts.native_f32_atomic_add;
    target.adds_f64 = facts.native_f64_atomic_add;
    // On a CPU, having several loads in flight gains nothing.
    target.most_together = facts.workgroup_loops ? 1 : 4;
    target.most_together_nodes = 192;
    target.workgroup_loops = facts.workgroup_loops;
    target.quirks = facts.quirks;
    return target;
}

Id spirv_operation(SpirvBuilder& b, Op op, Kind kind, std::span<const Id> v) {
    if (b.context.natives != 0 && (native_bit(op, kind) & b.context.natives) != 0) {
        const auto function =
            static_cast<GLSLstd450>(native_form(WYE_FORMAT_SPIRV, op, kind)->number);
        if (v.size() == 2) return b.exact_glsl(function, kind, {v[0], v[1]});
        return b.exact_glsl(function, kind, {v[0]});
    }
    return exact_operation(b, op, kind, v);
}

Id spirv_form(SpirvBuilder& b, FormKey key, std::span<const Id> v) {
    if (key < middle::key::kConversions) {
        const unsigned number = key % middle::key::kExact;
        const Op op = static_cast<Op>(middle::key::kFirstOperation + number / 16);
        const Kind kind = static_cast<Kind>(number % 16);
        return key < middle::key::kExact ? spirv_operation(b, op, kind, v)
                                         : exact_operation(b, op, kind, v);
    }
    if (key == middle::conversion(Kind::F32, Kind::F16) && b.context.facts.native_f16_convert)
        return native_round_to_half(b, v[0]);
    const Form& form = *b.context.forms.find(key);
    if (form.function)
        return call_function(b, function_of(b.context, key, form), form.result().kind, v);
    return spell(b, form, v);
}

}  // namespace wye::lower
