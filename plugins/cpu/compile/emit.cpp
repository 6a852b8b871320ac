// SPDX-License-Identifier: Apache-2.0
//
// Compiler, part 1: instructions for one operation on one component.
#include <algorithm>

#include "cpu/compile/compiler.hpp"

namespace wye::cpu {
namespace {

// The gap between registers, so that registers of power-of-two sizes start in different cache sets.
constexpr std::uint64_t kSkew = 64;

bool commutative(Binary op) {
    switch (op) {
        case Binary::Add:
        case Binary::Mul:
        case Binary::And:
        case Binary::Or:
        case Binary::Xor:
        case Binary::Min:
        case Binary::Max:
        case Binary::Eq:
        case Binary::Ne:
            return true;
        default:
            return false;
    }
}

bool shifts(Binary op) {
    return op == Binary::Shl || op == Binary::Shr || op == Binary::Rotl || op == Binary::Rotr;
}

bool compares(Binary op) {
    return op == Binary::Eq || op == Binary::Ne || op == Binary::Lt || op == Binary::Le;
}

std::optional<ChainType> chain_type(Num num) {
    switch (num) {
        case Num::I32:
        case Num::U32:
            return ChainType::W32;
        case Num::I64:
        case Num::U64:
            return ChainType::W64;
        case Num::F32:
            return ChainType::F32;
        case Num::F64:
            return ChainType::F64;
        default:
            return std::nullopt;
    }
}

// Whether a shift right ignores the sign, so that it can be in a chain on bit patterns (ChainType).
bool shr_is_logical(Num num) { return num == Num::U32 || num == Num::U64; }

First first_of(Binary op, Num num) {
    switch (op) {
        case Binary::Add:
            return First::Add;
        case Binary::Sub:
            return First::Sub;
        case Binary::Mul:
            return First::Mul;
        case Binary::And:
            return First::And;
        case Binary::Or:
            return First::Or;
        case Binary::Xor:
            return First::Xor;
        case Binary::AndNot:
            return First::AndNot;
        case Binary::Shl:
            return First::Shl;
        case Binary::Shr:
            return shr_is_logical(num) ? First::Shr : First::Count;
        case Binary::Rotl:
            return First::Rotl;
        default:
            return First::Count;
    }
}

Second second_of(Binary op, Num num) {
    switch (op) {
        case Binary::Add:
            return Second::Add;
        case Binary::Sub:
            return Second::Sub;
        case Binary::Mul:
            return Second::Mul;
        case Binary::And:
            return Second::And;
        case Binary::Or:
            return Second::Or;
        case Binary::Xor:
            return Second::Xor;
        case Binary::Shl:
            return Second::Shl;
        case Binary::Shr:
            return shr_is_logical(num) ? Second::Shr : Second::Count;
        case Binary::Rotl:
            return Second::Rotl;
        default:
            return Second::Count;
    }
}

bool nan_bits(Num num, std::uint64_t bits) {
    if (num == Num::F64) return (bits & 0x7fffffffffffffffU) > 0x7ff0000000000000U;
    return (bits & 0x7fffffffU) > 0x7f800000U;
}

}  // namespace

void Compiler::fail(wye::Code code, std::string message, std::string fix) {
    if (!error_) error_.emplace(code, std::move(message), std::move(fix), program_.name);
}

Instr& Compiler::emit(Step step, Kernel kernel) {
    if (kernel == nullptr && (step == Step::Lanes || step == Step::Scalar || step == Step::Assign ||
                              step == Step::Blend))
        fail(wye::Code::INTERNAL, "the cpu plugin has no kernel for an operation of this program",
             "Fix: report this to the plugin's author with the program");
    Instr instr;
    instr.run = kernel;
    instr.step = step;
    code_.instrs.push_back(instr);
    return code_.instrs.back();
}

void Compiler::bind(Label& label) {
    label.at = here();
    for (const std::uint32_t use : label.uses) code_.instrs[use].target = label.at;
    fuse_from_ = here();
}

Held Compiler::new_lanes(std::uint64_t bytes, bool variable) {
    const std::uint64_t size = (bytes + 63) / 64 * 64;
    const std::uint64_t at = lane_room_->take(size, kSkew);
    return std::make_shared<const Register>(lane_room_.get(), at, size, variable);
}

Held Compiler::new_view(std::uint64_t bytes) {
    const Held copy = new_lanes(bytes);
    auto view = std::make_shared<Register>(view_room_.get(), view_room_->take(1, 0), 1, false);
    view->copy = copy;
    return view;
}

Held Compiler::new_scalar(bool variable) {
    const std::uint64_t at = scalar_room_->take(1, 0);
    return std::make_shared<const Register>(scalar_room_.get(), at, 1, variable);
}

Held Compiler::outside_scalar() {
    const std::uint64_t at = scalar_room_->take(1, 0, true);
    kept_.push_back(std::make_shared<const Register>(scalar_room_.get(), at, 1, false));
    return kept_.back();
}

Value Compiler::constant(Num num, std::uint64_t bits) {
    Value value;
    value.form = Value::Form::Constant;
    value.num = num;
    value.bits = bits;
    value.never_nan = floating(num) && !nan_bits(num, bits);
    return value;
}

std::uint32_t Compiler::scalar_constant(std::uint64_t bits) {
    Held& held = constants_[bits];
    if (!held) {
        held = outside_scalar();
        code_.constants.emplace_back(held->number(), bits);
    }
    return held->number();
}

std::uint32_t Compiler::scalar(const Value& value) {
    return value.constant() ? scalar_constant(value.bits) : value.held->number();
}

Value Compiler::result(Num num, Held held) const {
    Value value;
    value.form = Value::Form::Lanes;
    value.num = num;
    value.held = std::move(held);
    return value;
}

// Emits a lane kernel that writes to `to`, or to a new register.
Value Compiler::emit_lanes(Num num, Kernel kernel, const Instr& operands, const Target* to) {
    const std::uint64_t bytes = std::uint64_t{code_.lanes} * bytes_of(width_of(num));
    Held held = to != nullptr ? to->held : new_lanes(bytes);
    const bool masked = to != nullptr && to->masked;
    const Held other = masked ? new_lanes(bytes) : nullptr;
    Instr& instr = emit(masked ? Step::Assign : Step::Lanes, kernel);
    instr.stride = operands.stride;
    instr.part = operands.part;
    instr.array = operands.array;
    instr.a = operands.a;
    instr.b = operands.b;
    instr.c = operands.c;
    instr.d = held->number();
    if (masked) {
        instr.target = other->number();
        Instr& blend = emit(Step::Blend, options_.kernels->blend[width_of(num)]);
        blend.d = held->number();
        blend.a = other->number();
    }
    return result(num, std::move(held));
}

Value Compiler::emit_scalar(Num num, Kernel kernel, const Instr& operands) {
    Value value = result(num, new_scalar());
    value.form = Value::Form::Scalar;
    Instr& instr = emit(Step::Scalar, kernel);
    const std::uint32_t d = value.held->number();
    instr.stride = operands.stride;
    instr.part = operands.part;
    instr.array = operands.array;
    instr.a = operands.a;
    instr.b = operands.b;
    instr.c = operands.c;
    instr.d = d;
    return value;
}

// Folds a constant by running a scalar kernel at compile time. Integers and bool only.
Value Compiler::fold(Num num, Kernel kernel, std::array<std::uint64_t, 3> operands) {
    std::array<std::uint64_t, 4> scalars = {operands[0], operands[1], operands[2], 0};
    Frame frame;
    frame.scalars = scalars.data();
    Instr instr;
    instr.a = 0;
    instr.b = 1;
    instr.c = 2;
    if (kernel != nullptr) {
        kernel(frame, instr, reinterpret_cast<std::byte*>(&scalars[3]));
    } else {
        emit(Step::Scalar, nullptr);  // sets the error
    }
    return constant(num, scalars[3]);
}

Value Compiler::to_lanes(const Value& value) {
    if (value.lanes()) return value;
    Value out = spread(value, nullptr);
    out.never_nan = value.never_nan;
    return out;
}

// Copies a uniform or symbolic value to lanes.
Value Compiler::spread(const Value& value, const Target* to) {
    Instr operands;
    if (value.ramp()) {
        set_ramps(operands, value);
        return emit_lanes(value.num, options_.kernels->ramp, operands, to);
    }
    operands.a = scalar(value);
    return emit_lanes(
        value.num,
        value.affine() ? options_.kernels->iota : options_.kernels->splat[width_of(value.num)],
        operands, to);
}

void Compiler::move(const Value& value, const Target& to) {
    if (value.lanes() && value.held == to.held) return;
    Instr operands;
    if (value.lanes()) {
        operands.a = value.held->number();
        if (to.masked) {
            Instr& blend = emit(Step::Lanes, options_.kernels->blend[width_of(value.num)]);
            blend.a = operands.a;
            blend.d = to.held->number();
        } else {
            emit_lanes(value.num, options_.kernels->unary[at(Unary::Copy)][at(value.num)], operands,
                       &to);
        }
        return;
    }
    spread(value, &to);
}

Value Compiler::lasting(Value value) {
    if (!value.variable()) return value;
    Instr operands;
    operands.a = value.held->number();
    Value copy =
        value.form == Value::Form::Lanes
            ? emit_lanes(value.num, options_.kernels->unary[at(Unary::Copy)][at(value.num)],
                         operands, nullptr)
            : emit_scalar(value.num, scalar_kernels().unary[at(Unary::Copy)][at(value.num)],
                          operands);
    if (value.affine()) copy.form = Value::Form::Affine;
    copy.never_nan = value.never_nan;
    return copy;
}

Value Compiler::relabel(Value value, Num num) {
    if (value.affine() && num != Num::I32 && num != Num::U32) value = to_lanes(value);
    value.num = num;
    value.never_nan = value.constant() && floating(num) && !nan_bits(num, value.bits);
    return value;
}

Value Compiler::unary(Unary op, Num to, const Value& a, const Target* target) {
    Value out;
    if (op == Unary::Not && a.ramp() && a.also.empty()) return ramp_not(a);
    if (a.constant() && !floating(a.num)) {
        out = fold(to, scalar_kernels().unary[at(op)][at(a.num)], {a.bits, 0, 0});
    } else if (a.uniform()) {
        Instr operands;
        operands.a = scalar(a);
        out = emit_scalar(to, scalar_kernels().unary[at(op)][at(a.num)], operands);
    } else {
        const Value lanes = to_lanes(a);
        Instr operands;
        operands.a = lanes.held->number();
        out = emit_lanes(to, options_.kernels->unary[at(op)][at(a.num)], operands, target);
    }
    if (op != Unary::Sqrt) out.never_nan = a.never_nan && floating(to);
    return out;
}

Value Compiler::convert(Num to, const Value& a, const Target* target) {
    if (a.num == to) return a;
    if (a.num == Num::F16 && to == Num::F32) {  // an f16 value is held as f32
        Value same = a;
        same.num = to;
        return same;
    }
    const bool relabels =
        !floating(a.num) && !floating(to) && a.num != Num::Bool && width_of(a.num) == width_of(to);
    if (relabels) return relabel(a, to);
    Value out;
    if (a.constant() && !floating(a.num) && !floating(to)) {
        out = fold(to, scalar_kernels().convert[at(a.num)][at(to)], {a.bits, 0, 0});
    } else if (a.uniform()) {
        Instr operands;
        operands.a = scalar(a);
        out = emit_scalar(to, scalar_kernels().convert[at(a.num)][at(to)], operands);
    } else {
        const Value lanes = to_lanes(a);
        Instr operands;
        operands.a = lanes.held->number();
        out = emit_lanes(to, options_.kernels->convert[at(a.num)][at(to)], operands, target);
    }
    out.never_nan = floating(to) && (!floating(a.num) || a.never_nan);
    return out;
}

Value Compiler::select(const Value& c, const Value& a, const Value& b, const Target* target) {
    Value out;
    if (c.constant()) return c.bits != 0 ? a : b;
    Instr operands;
    if (c.uniform() && a.uniform() && b.uniform()) {
        operands.a = scalar(c);
        operands.b = scalar(a);
        operands.c = scalar(b);
        out = emit_scalar(a.num, scalar_kernels().select, operands);
    } else {
        const Value condition = to_lanes(c);
        const Value x = a.symbolic() ? to_lanes(a) : a;
        const Value y = b.symbolic() ? to_lanes(b) : b;
        operands.a = condition.held->number();
        operands.b = scalar(x);
        operands.c = scalar(y);
        const auto& row = options_.kernels->select[width_of(a.num)];
        out = emit_lanes(a.num, row[x.uniform() ? 1 : 0][y.uniform() ? 1 : 0], operands, target);
    }
    out.never_nan = a.never_nan && b.never_nan;
    return out;
}

Value Compiler::binary(Binary op, const Value& a, const Value& b, const Target* target) {
    if (op == Binary::Div || op == Binary::Rem) code_.uses_floats = true;  // integers use f64
    const Num num = compares(op) ? Num::Bool : a.num;
    if (op == Binary::Rotr && b.constant()) {
        const std::uint64_t w = 8U * bytes_of(width_of(a.num));
        return binary(Binary::Rotl, a, constant(Num::U32, (w - (b.bits & (w - 1))) & (w - 1)),
                      target);
    }
    if (a.uniform() && b.uniform()) {
        const Kernel kernel = scalar_kernels().binary[at(op)][at(a.num)];
        if (a.constant() && b.constant() && !floating(a.num))
            return fold(num, kernel, {a.bits, b.bits, 0});
        Instr operands;
        operands.a = scalar(a);
        operands.b = scalar(b);
        Value out = emit_scalar(num, kernel, operands);
        out.never_nan = (op == Binary::Min || op == Binary::Max) && (a.never_nan || b.never_nan);
        return out;
    }
    // For an affine index plus or minus a uniform value, only the uniform part is computed.
    if (target == nullptr && (op == Binary::Add || op == Binary::Sub)) {
        const bool left = a.affine() && b.uniform();
        const bool right = op == Binary::Add && b.affine() && a.uniform();
        if (left || right) {
            Instr operands;
            operands.a = scalar(a);
            operands.b = scalar(b);
            Value out = emit_scalar(num, scalar_kernels().binary[at(op)][at(Num::U32)], operands);
            out.form = Value::Form::Affine;
            return out;
        }
    }
    if (auto condition = ramp(op, a, b)) return std::move(*condition);
    if (op == Binary::And)
        if (auto both = ramp_and(a, b)) return std::move(*both);
    Value out;
    if (auto fused = fuse(op, a, b, target)) {
        out = std::move(*fused);
    } else {
        out = binary_lanes(op, num, a, b, target);
    }
    out.num = num;
    if (op == Binary::Min || op == Binary::Max) out.never_nan = a.never_nan || b.never_nan;
    return out;
}

Value Compiler::binary_lanes(Binary op, Num num, Value a, Value b, const Target* target) {
    if (a.symbolic()) a = to_lanes(a);
    if (b.symbolic()) b = to_lanes(b);
    if (a.uniform() && commutative(op)) std::swap(a, b);
    const auto& row = options_.kernels->binary[at(op)][at(a.num)];
    Shape shape = a.uniform() ? SL : b.uniform() ? LS : LL;
    if (row[shape] == nullptr) {
        a = to_lanes(a);
        b = to_lanes(b);
        shape = LL;
    }
    Instr operands;
    operands.a = scalar(a);
    operands.b = scalar(b);
    Value out = emit_lanes(num, row[shape], operands, target);
    const First first = first_of(op, a.num);
    const auto type = chain_type(a.num);
    fusible_ = {};
    if (target == nullptr && shape != SL && type && first != First::Count &&
        (!shifts(op) || shape == LS)) {
        fusible_.at = here() - 1;
        fusible_.first = first;
        fusible_.type = *type;
        fusible_.instr = code_.instrs.back();
        fusible_.scalar_b = shape == LS;
        fusible_.result = out.held->at;
    }
    return out;
}

// Emits second(first(x, y), other) as a chain, if the last instruction computed `first(x, y)` and
// its result has no other use.
std::optional<Value> Compiler::fuse(Binary op, const Value& a, const Value& b,
                                    const Target* target) {
    const Second second = second_of(op, a.num);
    if (second == Second::Count || compares(op)) return std::nullopt;
    if (auto out = fuse_onto(second, a, b, target)) return out;
    if (op == Binary::Sub) return fuse_onto(Second::ReverseSub, b, a, target);
    if (commutative(op)) return fuse_onto(second, b, a, target);
    return std::nullopt;
}

std::optional<Value> Compiler::fuse_onto(Second op, const Value& first, const Value& other,
                                         const Target* target) {
    if (!first.lanes() || first.held.use_count() != 1 || first.held->variable) return std::nullopt;
    if (fusible_.at == kNoSlot || fusible_.at + 1 != here() || here() <= fuse_from_)
        return std::nullopt;
    if (fusible_.result != first.held->at || other.affine()) return std::nullopt;
    if (op >= Second::Shl && !other.uniform()) return std::nullopt;
    const auto type = chain_type(first.num);
    if (!type || *type != fusible_.type) return std::nullopt;
    const Kernel kernel =
        options_.kernels->chain[at(*type)][at(fusible_.first)][at(op)][fusible_.scalar_b ? 1 : 0]
                               [other.uniform() ? 1 : 0];
    if (kernel == nullptr) return std::nullopt;
    Instr operands;
    operands.a = fusible_.instr.a;
    operands.b = fusible_.instr.b;
    operands.c = scalar(other);
    code_.instrs.pop_back();
    fusible_ = {};
    return emit_lanes(first.num, kernel, operands, target);
}

}  // namespace wye::cpu
