// SPDX-License-Identifier: Apache-2.0
//
// Compiler, part 6: conditions on affine indices. `i < n` is decided for a whole block, from the
// block's first index; such conditions and their conjunctions stay scalars.
#include "cpu/compile/compiler.hpp"

namespace wye::cpu {
namespace {

constexpr std::size_t kMostAlso = 2;  // an instruction has three operands

std::optional<RampOp> ramp_op(Binary op) {
    switch (op) {
        case Binary::Lt:
            return RampOp::Lt;
        case Binary::Le:
            return RampOp::Le;
        case Binary::Eq:
        case Binary::Ne:
            return RampOp::Eq;
        default:
            return std::nullopt;
    }
}

}  // namespace

std::optional<Value> Compiler::ramp(Binary op, const Value& a, const Value& b) {
    const auto known = ramp_op(op);
    const bool turned = b.affine();
    if (!known || !(turned ? a.uniform() : a.affine() && b.uniform())) return std::nullopt;
    RampOp kind = *known;
    bool opposite = op == Binary::Ne;
    if (turned && kind != RampOp::Eq) {  // n < i is the complement of i <= n
        kind = kind == RampOp::Lt ? RampOp::Le : RampOp::Lt;
        opposite = true;
    }
    Instr operands;
    operands.a = scalar(turned ? b : a);
    operands.b = scalar(turned ? a : b);
    Value out = emit_scalar(Num::Bool, scalar_kernels().ramp[at(kind)][a.num == Num::I32 ? 1 : 0],
                            operands);
    out.form = Value::Form::Ramp;
    return opposite ? ramp_not(out) : out;
}

Value Compiler::ramp_not(const Value& a) {
    Instr operands;
    operands.a = a.held->number();
    Value out = emit_scalar(Num::Bool, scalar_kernels().ramp_not, operands);
    out.form = Value::Form::Ramp;
    return out;
}

std::optional<Value> Compiler::ramp_and(const Value& a, const Value& b) {
    if (a.ramp() && b.ramp() && a.also.size() + b.also.size() < kMostAlso) {
        Value out = a;
        out.also.push_back(b.held);
        out.also.insert(out.also.end(), b.also.begin(), b.also.end());
        return out;
    }
    if (b.ramp() && a.uniform()) return ramp_and(b, a);
    if (!a.ramp() || !b.uniform()) return std::nullopt;
    Instr operands;
    operands.a = a.held->number();
    operands.b = scalar(b);
    Value out = emit_scalar(Num::Bool, scalar_kernels().ramp_if, operands);
    out.form = Value::Form::Ramp;
    out.also = a.also;
    return out;
}

void Compiler::set_ramps(Instr& instr, const Value& condition) {
    instr.a = condition.held->number();
    instr.b = condition.also.empty() ? kNoSlot : condition.also[0]->number();
    instr.c = condition.also.size() < 2 ? kNoSlot : condition.also[1]->number();
}

}  // namespace wye::cpu
