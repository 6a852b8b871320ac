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

// The instructions for an operation on one or two operands, by class of operands; OpNop: none.
struct Instructions {
    Op op;
    spv::Op of_unsigned, of_signed, of_float, of_bool;
};
Instructions instructions_of(Op op) {
    using enum spv::Op;
    static constexpr Instructions kAll[] = {
        {Op::ADD, OpIAdd, OpIAdd, OpFAdd, OpNop},
        {Op::SUB, OpISub, OpISub, OpFSub, OpNop},
        {Op::MUL, OpIMul, OpIMul, OpFMul, OpNop},
        {Op::DIV, OpUDiv, OpSDiv, OpFDiv, OpNop},
        {Op::REM, OpUMod, OpSRem, OpNop, OpNop},
        {Op::AND, OpBitwiseAnd, OpBitwiseAnd, OpNop, OpNop},
        {Op::OR, OpBitwiseOr, OpBitwiseOr, OpNop, OpNop},
        {Op::XOR, OpBitwiseXor, OpBitwiseXor, OpNop, OpNop},
        {Op::NOT, OpNot, OpNot, OpNop, OpNop},
        {Op::SHL, OpShiftLeftLogical, OpShiftLeftLogical, OpNop, OpNop},
        {Op::SHR, OpShiftRightLogical, OpShiftRightArithmetic, OpNop, OpNop},
        {Op::EQ, OpNop, OpNop, OpFOrdEqual, OpLogicalEqual},
        {Op::NE, OpNop, OpNop, OpFUnordNotEqual, OpLogicalNotEqual},
        {Op::LT, OpNop, OpNop, OpFOrdLessThan, OpNop},
        {Op::LE, OpNop, OpNop, OpFOrdLessThanEqual, OpNop},
        {Op::GT, OpUGreaterThan, OpSGreaterThan, OpFOrdGreaterThan, OpNop},
        {Op::GE, OpUGreaterThanEqual, OpSGreaterThanEqual, OpFOrdGreaterThanEqual, OpNop},
        {Op::POPCOUNT, OpBitCount, OpBitCount, OpNop, OpNop},
        {Op::REVERSE_BITS, OpBitReverse, OpBitReverse, OpNop, OpNop},
        {Op::LOGICAL_NOT, OpNop, OpNop, OpNop, OpLogicalNot},
        {Op::LOGICAL_AND, OpNop, OpNop, OpNop, OpLogicalAnd},
        {Op::LOGICAL_OR, OpNop, OpNop, OpNop, OpLogicalOr},
    };
    for (const Instructions& each : kAll)
        if (each.op == op) return each;
    return {op, OpNop, OpNop, OpNop, OpNop};
}

Id integer_word(SpirvBuilder& b, Op op, Kind kind, std::span<const Id> v) {
    const bool is_signed = ir::Type{kind, 1}.signed_integer();
    const Id word = b.module.int_type(32);
    switch (op) {
        case Op::EQ:
            return b.equal(v[0], v[1]);
        case Op::LT:
            return b.less(v[0], v[1], is_signed);
        case Op::CLZ: {  // the number of the highest bit is -1 for 0
            const Id top = b.glsl(GLSLstd450FindUMsb, word, {v[0]});
            return b.op(spv::Op::OpISub, b.u32(31), top);
        }
        case Op::MUL_HI: {
            const Id both[] = {word, word};
            const spv::Op product = is_signed ? spv::Op::OpSMulExtended : spv::Op::OpUMulExtended;
            return b.extract(b.make(product, b.module.struct_type(both), {v[0], v[1]}), word, 1);
        }
        default:
            break;
    }
    const Instructions known = instructions_of(op);
    const spv::Op how = is_signed ? known.of_signed : known.of_unsigned;
    if (v.size() == 1) return b.op(how, v[0]);
    return op == Op::GT || op == Op::GE ? b.test(how, v[0], v[1]) : b.op(how, v[0], v[1]);
}

Id float_word(SpirvBuilder& b, Op op, Kind kind, std::span<const Id> v) {
    const auto whole = [&](GLSLstd450 function) {
        return b.exact(b.glsl(function, b.module.type_of(v[0]), {v[0]}));
    };
    switch (op) {
        case Op::SQRT:
            return b.exact_glsl(GLSLstd450Sqrt, kind, {v[0]});
        case Op::RSQRT:
            return b.exact_glsl(GLSLstd450InverseSqrt, kind, {v[0]});
        case Op::FMA:
            return b.exact_glsl(GLSLstd450Fma, kind, {v[0], v[1], v[2]});
        case Op::FLOOR:
            return whole(GLSLstd450Floor);
        case Op::CEIL:
            return whole(GLSLstd450Ceil);
        case Op::TRUNC:
            return whole(GLSLstd450Trunc);
        case Op::ROUND:
            return whole(GLSLstd450RoundEven);
        default:
            break;
    }
    const spv::Op how = instructions_of(op).of_float;
    return op >= Op::EQ && op <= Op::GE ? b.test(how, v[0], v[1])
                                        : b.arithmetic(how, kind, {v[0], v[1]});
}

Id plain_word(SpirvBuilder& b, Op op, Kind kind, std::span<const Id> v) {
    const ir::Type type{kind, 1};
    if (type.integer()) return integer_word(b, op, kind, v);
    if (type.floating()) return float_word(b, op, kind == Kind::F16 ? Kind::F32 : kind, v);
    const spv::Op how = instructions_of(op).of_bool;
    return v.size() == 1 ? b.op(how, v[0]) : b.test(how, v[0], v[1]);
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
        std::array<Id, middle::kMostParts> parts{};
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

// For the quirk `vk-literal-arithmetic`: computes operations on literals, in place of the driver.
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
    target.fuses_normals = facts.native_f32_fma || facts.native_normal_f32_fma;
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
