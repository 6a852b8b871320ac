// SPDX-License-Identifier: Apache-2.0
#include "lower/spirv/builder.hpp"

#include <algorithm>
#include <utility>

namespace wye::lower {
namespace {

using ir::Kind;

bool takes_signed(spv::Op op) {
    switch (op) {
        case spv::Op::OpSLessThan:
        case spv::Op::OpSLessThanEqual:
        case spv::Op::OpSGreaterThan:
        case spv::Op::OpSGreaterThanEqual:
        case spv::Op::OpSDiv:
        case spv::Op::OpShiftRightArithmetic:
            return true;
        default:
            return false;
    }
}

// Returns the operands that are values. Other operands are numbers in the instruction itself.
std::span<const std::uint32_t> values_of(spv::Op op, std::span<const std::uint32_t> operands) {
    if (op == spv::Op::OpExtInst) return operands.subspan(2);
    if (op == spv::Op::OpCompositeExtract) return operands.first(1);
    return operands;
}

}  // namespace

Id SpirvBuilder::make(spv::Op op, Id type, std::span<const std::uint32_t> operands) {
    const Id id = module.fresh();
    const auto values = values_of(op, operands);
    if (!values.empty() &&
        std::all_of(values.begin(), values.end(), [&](Id value) { return module.constant(value); }))
        module.mark_constant(id);
    out_->add(op, {type, id}, operands);
    return module.typed(id, type);
}

Id SpirvBuilder::as_signed(Id value) {
    const Id type = module.signed_type(module.type_of(value));
    if (const auto known = module.known(value)) return module.signed_number(type, *known);
    return make(spv::Op::OpBitcast, type, {value});
}

Id SpirvBuilder::op(spv::Op o, Id a, Id b) {
    const Id type = module.type_of(a);
    if (!takes_signed(o) || !quirk(Quirk::NvidiaVkSignedWords)) return make(o, type, {a, b});
    const Id left = as_signed(a);
    const Id right = o == spv::Op::OpShiftRightArithmetic ? b : as_signed(b);
    return make(spv::Op::OpBitcast, type, {make(o, module.type_of(left), {left, right})});
}

Id SpirvBuilder::test(spv::Op o, Id a, Id b) {
    if (!takes_signed(o) || !quirk(Quirk::NvidiaVkSignedWords))
        return make(o, module.bool_type(), {a, b});
    const Id left = as_signed(a);
    return make(o, module.bool_type(), {left, as_signed(b)});
}

Id SpirvBuilder::less(Id a, Id b, bool is_signed) {
    const spv::Op ordered = is_signed ? spv::Op::OpSLessThan : spv::Op::OpULessThan;
    constexpr Quirk kByWords = Quirk::NvidiaVkWideCompare;
    if (!quirk(kByWords) || module.type_of(a) == module.int_type(32)) return test(ordered, a, b);
    const Id high = disguised(kByWords, high_word(a));
    const Id other = high_word(b);
    const Id low = test(spv::Op::OpULessThan, low_word(a), low_word(b));
    return either(test(ordered, high, other), both(test(spv::Op::OpIEqual, high, other), low));
}

Id SpirvBuilder::equal(Id a, Id b) {
    const bool wide = module.is_int64(a);
    return test(spv::Op::OpIEqual, wide ? disguised(Quirk::NvidiaVkWideCompare, a) : a, b);
}

Id SpirvBuilder::disguised(Quirk which, Id value) {
    if (!quirk(which) || !context.usage.disguises) return value;
    const bool wide = module.is_int64(value);
    return op(spv::Op::OpBitwiseXor, value, outer(wide ? Outer::OpaqueZero64 : Outer::OpaqueZero));
}

Id SpirvBuilder::glsl(GLSLstd450 function, Id type, std::initializer_list<std::uint32_t> operands) {
    Words all{module.glsl(), code(function)};
    all.insert(all.end(), operands.begin(), operands.end());
    return make(spv::Op::OpExtInst, type, all);
}

// For drivers that fold x + 0.0 to x, combines the value with the opaque zero. A value that is
// hidden already, such as the result of arithmetic on hidden values, is returned unchanged.
// disguised() uses another zero, since the same zero twice would cancel.
Id SpirvBuilder::hidden(Kind kind, Id value) {
    if (!context.hides_constants() || hidden_.has(value)) return value;
    const Id zero = outer(kind == Kind::F64 ? Outer::OpaqueZero64 : Outer::OpaqueZero, 1);
    return mark_hidden(bits_float(kind, op(spv::Op::OpBitwiseXor, float_bits(kind, value), zero)));
}

// The zero is the first operand, so that a driver's search through the operands ends there.
Id SpirvBuilder::differing(Kind kind, Id value) {
    const Id zero = outer(Outer::LaneZero);
    if (kind == Kind::BOOL) return either(test(spv::Op::OpINotEqual, zero, u32(0)), value);
    const ir::Type type{kind, 1};
    const Kind held = kind == Kind::F64 ? kind : Kind::F32;
    const Id bits = type.floating() ? float_bits(held, value) : value;
    const Id hidden = op(spv::Op::OpBitwiseOr, type.bits() == 64 ? resize(zero, 64) : zero, bits);
    return type.floating() ? mark_hidden(bits_float(held, hidden)) : hidden;
}

Id SpirvBuilder::not_one(Id value) {
    const auto number = quirk(Quirk::MesaOneBesideZero) ? module.number_of(value) : std::nullopt;
    if (!number) return value;
    const std::uint64_t sign = std::uint64_t{1} << (number->wide ? 63U : 31U);
    const std::uint64_t one = number->wide ? 0x3ff0000000000000U : 0x3f800000U;
    if ((number->bits & ~sign) != one) return value;
    if (number->floating) return differing(number->wide ? Kind::F64 : Kind::F32, value);
    return differing(number->wide ? Kind::U64 : Kind::U32, value);
}

// A literal other than zero needs no hiding beside a hidden operand, since nothing can be folded.
Words SpirvBuilder::hidden_operands(Kind kind, std::initializer_list<Id> operands) {
    bool constant = true;
    for (const Id each : operands) constant = constant && module.known(each);
    const std::uint64_t magnitude = kind == Kind::F64 ? ~std::uint64_t{0} >> 1U : 0x7fffffffU;
    Words out;
    for (const Id each : operands) {
        const bool plain = !constant && (module.known(each).value_or(0) & magnitude) != 0;
        out.push_back(plain ? each : hidden(kind, each));
    }
    if (quirk(Quirk::VkLiteralArithmetic) &&
        std::all_of(out.begin(), out.end(), [&](Id each) { return module.constant(each); }))
        out[0] = differing(kind, out[0]);
    return out;
}

Id SpirvBuilder::arithmetic(spv::Op o, Kind kind, std::initializer_list<Id> operands) {
    return mark_hidden(exact(make(o, module.value_type(kind), hidden_operands(kind, operands))));
}

Id SpirvBuilder::exact_glsl(GLSLstd450 function, Kind kind, std::initializer_list<Id> operands) {
    Words all{module.glsl(), code(function)};
    for (const std::uint32_t each : hidden_operands(kind, operands)) all.push_back(each);
    return mark_hidden(exact(make(spv::Op::OpExtInst, module.value_type(kind), all)));
}

void SpirvBuilder::open(Id label) {
    body_.add(spv::Op::OpLabel, {label});
    here_ = label;
    ended_ = false;
}

void SpirvBuilder::end(spv::Op op, std::initializer_list<std::uint32_t> operands) {
    act(op, operands);
    ended_ = true;
}

void SpirvBuilder::selection(Id condition, Id yes, Id no, Id merge) {
    act(spv::Op::OpSelectionMerge, {merge, code(spv::SelectionControlMask::MaskNone)});
    branch(condition, yes, no);
}

void SpirvBuilder::barrier() {
    const Id workgroup = u32(code(spv::Scope::Workgroup));
    spv::MemorySemanticsMask orders =
        spv::MemorySemanticsMask::AcquireRelease | spv::MemorySemanticsMask::WorkgroupMemory;
    if (context.usage.passes_buffers()) orders = orders | spv::MemorySemanticsMask::UniformMemory;
    act(spv::Op::OpControlBarrier, {workgroup, workgroup, u32(code(orders))});
}

Id SpirvBuilder::variable(Id type) {
    const Id id = module.fresh();
    variables_.add(spv::Op::OpVariable, {module.pointer_type(spv::StorageClass::Function, type), id,
                                         code(spv::StorageClass::Function)});
    return id;
}

Id SpirvBuilder::pointer(spv::StorageClass storage, Id to, Id base, std::span<const Id> indices) {
    Words operands{base};
    operands.insert(operands.end(), indices.begin(), indices.end());
    return make(spv::Op::OpAccessChain, module.pointer_type(storage, to), operands);
}

Id SpirvBuilder::outer(Outer what, std::uint32_t index) {
    if (const auto found = outers_.find({what, index}); found != outers_.end())
        return found->second;
    SpirvCode* const before = std::exchange(out_, &prologue_);
    const Id id = make_outer(what, index);
    out_ = before;
    outers_[{what, index}] = id;
    return id;
}

Words SpirvBuilder::finish(Id function, Id result, std::span<const std::pair<Id, Id>> parameters) {
    std::vector<Id> types;
    for (const auto& [id, type] : parameters) types.push_back(type);
    SpirvCode head;
    head.add(spv::Op::OpFunction, {result, function, code(spv::FunctionControlMask::MaskNone),
                                   module.function_type(result, types)});
    for (const auto& [id, type] : parameters) head.add(spv::Op::OpFunctionParameter, {type, id});
    head.add(spv::Op::OpLabel, {first_});
    Words out = head.words();
    for (const SpirvCode* part : {&variables_, &prologue_, &body_})
        out.insert(out.end(), part->words().begin(), part->words().end());
    SpirvCode tail;
    tail.add(spv::Op::OpFunctionEnd, {});
    out.insert(out.end(), tail.words().begin(), tail.words().end());
    return out;
}

}  // namespace wye::lower
