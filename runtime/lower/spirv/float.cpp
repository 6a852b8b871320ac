// SPDX-License-Identifier: Apache-2.0
//
// Float operations. Signs and NaNs are settled on the bits; what a device does not round correctly
// goes through f64 or through the library of emulations.
#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <optional>

#include "lower/passes/native_functions.hpp"
#include "lower/spirv/library.hpp"
#include "lower/spirv/ops.hpp"

namespace wye::lower {
namespace {

using ir::Kind;
using ir::Op;

class Float {
  public:
    Float(SpirvBuilder& builder, Kind kind)
        : b_(builder),
          kind_(kind),
          wide_(kind == Kind::F64),
          sign_(wide_ ? std::uint64_t{1} << 63U : std::uint64_t{1} << 31U),
          infinity_(wide_ ? 0x7ff0000000000000U : 0x7f800000U) {}

    Id write(Op op, std::span<const Id> v);
    Id isnan(Id a) { return b_.test(spv::Op::OpUGreaterThan, magnitude(a), number(infinity_)); }

  private:
    Id number(std::uint64_t value) { return b_.module.number(wide_ ? 64 : 32, value); }
    Id bits(Id a) { return b_.float_bits(kind_, a); }
    Id value(Id bits) { return b_.bits_float(kind_, bits); }
    Id magnitude(Id a) { return b_.op(spv::Op::OpBitwiseAnd, bits(a), number(sign_ - 1)); }
    Id call(const char* narrow, const char* wide, std::initializer_list<Id> operands) {
        return spirv_library_call(b_, wide_ ? wide : narrow, operands);
    }
    Id widened(Id a) {
        const Id type = b_.module.float_type(64);
        return b_.mark_hidden(b_.convert(spv::Op::OpFConvert, type, b_.hidden(kind_, a)));
    }
    Id narrowed(Id a) {
        return b_.mark_hidden(b_.convert(spv::Op::OpFConvert, b_.module.float_type(32), a));
    }
    std::optional<Id> folded(Op op, std::span<const Id> v);
    bool by_fma() const;
    Id inverse_root(Id a) {  // of a normal f32, up to 2 ulp off
        return b_.exact_glsl(GLSLstd450InverseSqrt, Kind::F32, {a});
    }
    Id divide(Id a, Id c);
    Id square_root(Id a);
    Id fused(Id a, Id c, Id d);
    Id extreme(Id a, Id c, bool least);
    Id whole(GLSLstd450 function, const char* narrow, const char* wide, Id a) {
        const TargetFacts& facts = b_.context.facts;
        if (!wide_ && b_.quirk(Quirk::LlvmpipeRoundedZero)) a = b_.differing(kind_, a);
        const bool native = wide_ ? facts.native_f64_round : facts.native_f32_round;
        const Id result = native ? b_.exact(b_.glsl(function, b_.module.type_of(a), {a}))
                                 : call(narrow, wide, {a});
        return wide_ && b_.quirk(Quirk::MesaOneBesideZero) ? b_.differing(kind_, result) : result;
    }

    SpirvBuilder& b_;
    Kind kind_;
    bool wide_;
    std::uint64_t sign_, infinity_;
};

// For the quirk `vk-literal-arithmetic`: what literals give is computed here.
template <typename T, typename Bits>
std::optional<std::uint64_t> fold(Op op, const std::array<std::uint64_t, 3>& operands) {
    const auto value = [&](std::size_t k) {
        return std::bit_cast<T>(static_cast<Bits>(operands[k]));
    };
    std::fenv_t caller;
    std::fegetenv(&caller);
    std::fesetenv(FE_DFL_ENV);
    volatile T a = value(0);  // nothing is computed before or after
    volatile T b = value(1);
    volatile T result = 0;
    bool known = true;
    switch (op) {
        case Op::ADD:
            result = a + b;
            break;
        case Op::SUB:
            result = a - b;
            break;
        case Op::MUL:
            result = a * b;
            break;
        case Op::DIV:
            result = a / b;
            break;
        case Op::SQRT:
            result = std::sqrt(a);
            break;
        case Op::FMA:
            result = std::fma(a, b, value(2));
            break;
        default:
            known = false;
    }
    const T out = std::isnan(result) ? std::numeric_limits<T>::quiet_NaN() : result;
    std::fesetenv(&caller);
    if (!known) return {};
    return std::bit_cast<Bits>(out);
}

std::optional<Id> Float::folded(Op op, std::span<const Id> v) {
    if (!b_.quirk(Quirk::VkLiteralArithmetic)) return {};
    std::array<std::uint64_t, 3> operands{};
    for (std::size_t k = 0; k < v.size(); ++k) {
        const auto known = b_.module.known(v[k]);
        if (!known) return {};
        operands[k] = *known;
    }
    const auto result = wide_ ? fold<double, std::uint64_t>(op, operands)
                              : fold<float, std::uint32_t>(op, operands);
    if (!result) return {};
    return b_.module.literal(kind_, *result);
}

// In f64 an f32 quotient or root is exact after rounding: 53 bits are more than 2 * 24 + 1.
// Where the quirk `nvidia-vk-division-call` asks for it and f32 roots are not exact anyway, fused
// steps are used for all.
bool Float::by_fma() const {
    const TargetFacts& facts = b_.context.facts;
    return b_.quirk(Quirk::NvidiaVkDivisionCall) && facts.f64 && facts.native_f64_fma &&
           !facts.native_f32_sqrt;
}

Id Float::divide(Id a, Id c) {
    if (by_fma()) {
        const Id radicand = call("radicand_of_divisor32", "radicand_of_divisor64", {c});
        return call("div32_by_fma", "div64_by_fma", {a, c, inverse_root(radicand)});
    }
    const TargetFacts& facts = b_.context.facts;
    if (wide_ ? facts.native_f64_div : facts.native_f32_div)
        return b_.arithmetic(spv::Op::OpFDiv, kind_, {a, c});
    if (!wide_ && facts.f64 && facts.native_f64_div)
        return narrowed(b_.arithmetic(spv::Op::OpFDiv, Kind::F64, {widened(a), widened(c)}));
    return call("div32", "div64", {a, c});
}

Id Float::square_root(Id a) {
    if (by_fma())
        return call("sqrt32_by_fma", "sqrt64_by_fma",
                    {a, inverse_root(call("radicand32", "radicand64", {a}))});
    const TargetFacts& facts = b_.context.facts;
    if (wide_ ? facts.native_f64_sqrt : facts.native_f32_sqrt)
        return b_.exact_glsl(GLSLstd450Sqrt, kind_, {a});
    if (!wide_ && facts.f64 && facts.native_f64_sqrt)
        return narrowed(b_.exact_glsl(GLSLstd450Sqrt, Kind::F64, {widened(a)}));
    return call("sqrt32", "sqrt64", {a});
}

Id Float::fused(Id a, Id c, Id d) {
    const TargetFacts& facts = b_.context.facts;
    if (wide_ ? facts.native_f64_fma : facts.native_f32_fma)
        return b_.exact_glsl(GLSLstd450Fma, kind_, {a, c, d});
    return call(facts.f64 ? "fma32" : "fma32_in_integers", "fma64", {a, c, d});
}

// minimumNumber and maximumNumber. Equal operands differ only in the sign of zero, which `or` (for
// the least) and `and` of the bits settle.
Id Float::extreme(Id a, Id c, bool least) {
    const Id joined =
        value(b_.op(least ? spv::Op::OpBitwiseOr : spv::Op::OpBitwiseAnd, bits(a), bits(c)));
    const Id first = b_.compare(least ? spv::Op::OpFOrdLessThan : spv::Op::OpFOrdGreaterThan, a, c);
    const Id other = b_.select(b_.either(first, isnan(c)), a, c);
    return b_.select(b_.compare(spv::Op::OpFOrdEqual, a, c), joined, other);
}

Id Float::write(Op op, std::span<const Id> v) {
    if (const auto known = folded(op, v)) return *known;
    if ((native_bit(op, kind_) & b_.context.natives) != 0) {
        const auto function =
            static_cast<GLSLstd450>(native_form(WYE_FORMAT_SPIRV, op, kind_)->number);
        if (v.size() == 2) return b_.exact_glsl(function, kind_, {v[0], v[1]});
        return b_.exact_glsl(function, kind_, {v[0]});
    }
    switch (op) {
        case Op::NEG:
            return value(b_.op(spv::Op::OpBitwiseXor, bits(v[0]), number(sign_)));
        case Op::ABS:
            return value(magnitude(v[0]));
        case Op::COPYSIGN: {
            const Id sign = b_.op(spv::Op::OpBitwiseAnd, bits(v[1]), number(sign_));
            return value(b_.op(spv::Op::OpBitwiseOr, magnitude(v[0]),
                               b_.select(isnan(v[1]), number(0), sign)));
        }
        case Op::ADD:
            return b_.arithmetic(spv::Op::OpFAdd, kind_, {v[0], v[1]});
        case Op::SUB:
            return b_.arithmetic(spv::Op::OpFSub, kind_, {v[0], v[1]});
        case Op::MUL:
            return b_.arithmetic(spv::Op::OpFMul, kind_, {v[0], v[1]});
        case Op::DIV:
            return divide(v[0], v[1]);
        case Op::SQRT:
            return square_root(v[0]);
        case Op::FMA:
            return fused(v[0], v[1], v[2]);
        case Op::MIN:
            return extreme(v[0], v[1], true);
        case Op::MAX:
            return extreme(v[0], v[1], false);
        case Op::FLOOR:
            return whole(GLSLstd450Floor, "floor32", "floor64", v[0]);
        case Op::CEIL:
            return whole(GLSLstd450Ceil, "ceil32", "ceil64", v[0]);
        case Op::TRUNC:
            return whole(GLSLstd450Trunc, "trunc32", "trunc64", v[0]);
        case Op::ROUND:
            return whole(GLSLstd450RoundEven, "round32", "round64", v[0]);
        case Op::ISNAN:
            return isnan(v[0]);
        case Op::ISINF:
            return b_.test(spv::Op::OpIEqual, magnitude(v[0]), number(infinity_));
        case Op::EQ:
            return b_.compare(spv::Op::OpFOrdEqual, v[0], v[1]);
        case Op::NE:
            return b_.compare(spv::Op::OpFUnordNotEqual, v[0], v[1]);
        case Op::LT:
            return b_.compare(spv::Op::OpFOrdLessThan, v[0], v[1]);
        case Op::LE:
            return b_.compare(spv::Op::OpFOrdLessThanEqual, v[0], v[1]);
        case Op::GT:
            return b_.compare(spv::Op::OpFOrdGreaterThan, v[0], v[1]);
        case Op::GE:
            return b_.compare(spv::Op::OpFOrdGreaterThanEqual, v[0], v[1]);
        default:
            return 0;
    }
}

}  // namespace

Id spirv_float_operation(SpirvBuilder& b, Op op, Kind kind, std::span<const Id> operands) {
    return Float(b, kind).write(op, operands);
}

Id spirv_isnan(SpirvBuilder& b, Kind kind, Id value) { return Float(b, kind).isnan(value); }

Id spirv_canonical(SpirvBuilder& b, Kind kind, Id value) {
    const bool wide = kind == Kind::F64;
    const Id nan = b.module.literal(kind, wide ? 0x7ff8000000000000U : 0x7fc00000U);
    return b.select(spirv_isnan(b, kind, value), nan, value);
}

}  // namespace wye::lower
