// SPDX-License-Identifier: Apache-2.0
//
// Compiler, part 4: expressions.
#include <algorithm>

#include "cpu/compile/compiler.hpp"

namespace wye::cpu {
namespace {

using ir::Op;

// The limit of the compiler's recursion. No program reaches it: WYE_LIMIT_NESTING is lower, and the
// functions that the host adds for math add only some levels.
constexpr unsigned kDepth = 3400;

std::optional<Binary> binary_of(Op op) {
    switch (op) {
        case Op::ADD:
            return Binary::Add;
        case Op::SUB:
            return Binary::Sub;
        case Op::MUL:
            return Binary::Mul;
        case Op::DIV:
            return Binary::Div;
        case Op::REM:
            return Binary::Rem;
        case Op::AND:
        case Op::LOGICAL_AND:
            return Binary::And;
        case Op::OR:
        case Op::LOGICAL_OR:
            return Binary::Or;
        case Op::XOR:
            return Binary::Xor;
        case Op::SHL:
            return Binary::Shl;
        case Op::SHR:
            return Binary::Shr;
        case Op::ROTL:
            return Binary::Rotl;
        case Op::ROTR:
            return Binary::Rotr;
        case Op::EQ:
            return Binary::Eq;
        case Op::NE:
            return Binary::Ne;
        case Op::LT:
        case Op::GT:
            return Binary::Lt;
        case Op::LE:
        case Op::GE:
            return Binary::Le;
        case Op::MUL_HI:
            return Binary::MulHi;
        case Op::ADD_SAT:
            return Binary::AddSat;
        case Op::SUB_SAT:
            return Binary::SubSat;
        case Op::MIN:
            return Binary::Min;
        case Op::MAX:
            return Binary::Max;
        case Op::COPYSIGN:
            return Binary::Copysign;
        default:
            return std::nullopt;
    }
}

std::optional<Unary> unary_of(Op op) {
    switch (op) {
        case Op::NEG:
            return Unary::Neg;
        case Op::NOT:
        case Op::LOGICAL_NOT:
            return Unary::Not;
        case Op::POPCOUNT:
            return Unary::Popcount;
        case Op::CLZ:
            return Unary::Clz;
        case Op::CTZ:
            return Unary::Ctz;
        case Op::REVERSE_BITS:
            return Unary::Reverse;
        case Op::ABS:
            return Unary::Abs;
        case Op::SQRT:
            return Unary::Sqrt;
        case Op::FLOOR:
            return Unary::Floor;
        case Op::CEIL:
            return Unary::Ceil;
        case Op::TRUNC:
            return Unary::Trunc;
        case Op::ROUND:
            return Unary::Round;
        case Op::ISNAN:
            return Unary::IsNan;
        case Op::ISINF:
            return Unary::IsInf;
        default:
            return std::nullopt;
    }
}

bool may_start_chain(Op op) {
    switch (op) {
        case Op::ADD:
        case Op::SUB:
        case Op::MUL:
        case Op::AND:
        case Op::OR:
        case Op::XOR:
        case Op::SHL:
        case Op::SHR:
        case Op::ROTL:
        case Op::ROTR:
            return true;
        default:
            return false;
    }
}

}  // namespace

// An operand's place in the order of evaluation. The order does not matter for the result, since
// operands have no effects. An operand that may be fused with the operation comes last, so that it
// directly precedes the operation.
unsigned Compiler::turn(const Context& cx, ir::ExprId id) const {
    if (cx.uniformity->exprs[id] == 0) return 0;
    return may_start_chain(cx.code->exprs[id].op) ? 2 : 1;
}

void Compiler::deeper() {
    if (++depth_ > kDepth)
        fail(wye::Code::LIMIT_EXCEEDED,
             "calls, blocks and expressions nest deeper than " + std::to_string(kDepth) + " levels",
             "Fix: flatten the chain of functions that call one another");
}

Values Compiler::expr(Context& cx, ir::ExprId id, const Targets* targets) {
    deeper();
    Values values;
    if (!error_) values = expr_inside(cx, id, targets);
    --depth_;
    if (error_) {  // returns the usual number of values, so that callers need no checks
        values = {};
        const ir::Type type = cx.code->exprs[id].type;
        for (unsigned n = 0; n < std::max<unsigned>(type.lanes, 1); ++n)
            values.add(constant(num_of(type.kind), 0));
        return values;
    }
    if (targets != nullptr)
        for (std::size_t n = 0; n < values.count; ++n) move(values[n], (*targets)[n]);
    return values;
}

Values Compiler::expr_inside(Context& cx, ir::ExprId id, const Targets* targets) {
    const ir::Expr& e = cx.code->exprs[id];
    const auto operands = cx.code->operands_of(e);
    const Num num = num_of(e.type.kind);
    const auto local = static_cast<std::size_t>(e.extra);
    switch (e.op) {
        case Op::LITERAL:
            if (num == Num::F16) return unary(Unary::BitsHalf, num, constant(Num::U32, e.extra));
            return constant(num, e.extra);
        case Op::PARAM:
            return parameter(e.imm);
        case Op::LOCAL:
            return cx.locals[local].values;
        case Op::BUILTIN:
            return builtin(e.imm);
        case Op::LEN:
        case Op::LEN64:
            return length(e.imm, e.op == Op::LEN64);
        case Op::LEN_TABLE:
        case Op::LEN64_TABLE:
            return length(table_array(program_, e.imm), e.op == Op::LEN64_TABLE);
        case Op::LEN_ARRAY:
        case Op::LEN64_ARRAY:
            return constant(num, cx.locals[local].array.count);
        case Op::LOAD:
        case Op::WORKGROUP_UNIFORM_LOAD:
            return load(e.imm, program_.buffers[e.imm].type, expr(cx, operands[0])[0], targets);
        case Op::LOAD_TABLE:
            return load(table_array(program_, e.imm), program_.tables[e.imm].type,
                        expr(cx, operands[0])[0], targets);
        case Op::LOAD_ARRAY:
            return load_local(cx.locals[local].array, expr(cx, operands[0])[0], targets);
        case Op::CALL:
            return call(cx, e, targets);
        case Op::CONSTRUCT: {
            Values out;
            for (const ir::ExprId operand : operands) out.add(expr(cx, operand)[0]);
            return out;
        }
        case Op::SPLAT: {
            const Value value = expr(cx, operands[0])[0];
            Values out;
            for (unsigned n = 0; n < e.type.lanes; ++n) out.add(value);
            return out;
        }
        case Op::COMPONENT:
            return expr(cx, operands[0])[e.imm];
        case Op::BITCAST:
            return bitcast(e, expr(cx, operands[0]));
        case Op::ANY:
        case Op::ALL: {
            const Values from = expr(cx, operands[0]);
            Value out = from[0];
            for (std::size_t n = 1; n < from.count; ++n)
                out = binary(e.op == Op::ANY ? Binary::Or : Binary::And, out, from[n]);
            return out;
        }
        default:
            break;
    }
    if (ir::op_atomic(e.op)) return atomic(cx, e, targets);
    if (ir::op_subgroup(e.op)) return subgroup(cx, e);
    return elementwise(cx, e, targets);
}

Value Compiler::parameter(std::uint32_t index) {
    const ir::Type type = program_.params[index].type;
    Held& held = params_[index];
    if (!held) {
        held = outside_scalar();
        code_.params.push_back(
            {held->number(), ir::param_layout(program_.params).offsets[index], type.bytes()});
    }
    Value value = result(num_of(type.kind), held);
    value.form = Value::Form::Scalar;
    return value;
}

Values Compiler::elementwise(Context& cx, const ir::Expr& e, const Targets* targets) {
    const auto operands = cx.code->operands_of(e);
    // Emits `a & ~b` as one operation.
    const auto inverted = [&](std::size_t n) {
        return e.op == Op::AND && cx.code->exprs[operands[n]].op == Op::NOT;
    };
    const bool and_not = e.op == Op::AND && (inverted(0) || inverted(1));
    const std::size_t not_at = inverted(1) ? 1 : 0;
    std::array<ir::ExprId, 3> ids{};
    std::array<std::size_t, 3> order = {0, 1, 2};
    for (std::size_t n = 0; n < operands.size(); ++n) {
        ids[n] = operands[n];
        if (and_not && n == not_at) ids[n] = cx.code->operands_of(operands[n])[0];
    }
    std::stable_sort(
        order.begin(), order.begin() + static_cast<std::ptrdiff_t>(operands.size()),
        [&](std::size_t a, std::size_t b) { return turn(cx, ids[a]) < turn(cx, ids[b]); });
    std::array<Values, 3> values;
    for (std::size_t n = 0; n < operands.size(); ++n) values[order[n]] = expr(cx, ids[order[n]]);
    Values out;
    for (std::size_t part = 0; part < e.type.lanes; ++part) {
        // Operands are moved, not copied, since an operand with another holder is not fused.
        std::array<Value, 3> at_part;
        for (std::size_t n = 0; n < operands.size(); ++n) {
            const bool last = values[n].count == 1 ? part + 1U == e.type.lanes : true;
            Value& from = values[n][values[n].count == 1 ? 0 : part];
            at_part[n] = last ? std::move(from) : from;
        }
        const Target* target = targets != nullptr ? &(*targets)[part] : nullptr;
        if (and_not) {
            out.add(binary(Binary::AndNot, at_part[1 - not_at], at_part[not_at], target));
        } else {
            out.add(operation(e, at_part, target));
        }
    }
    return out;
}

Value Compiler::operation(const ir::Expr& e, const std::array<Value, 3>& operands,
                          const Target* target) {
    const auto& [a, b, c] = operands;
    const Num num = num_of(e.type.kind);
    if (const auto op = unary_of(e.op)) return unary(*op, num, a, target);
    if (const auto op = binary_of(e.op)) {
        const bool swapped = e.op == Op::GT || e.op == Op::GE;
        return swapped ? binary(*op, b, a, target) : binary(*op, a, b, target);
    }
    switch (e.op) {
        case Op::CLAMP:
            return binary(Binary::Min, binary(Binary::Max, a, b), c, target);
        case Op::FMA:
            return fma(operands, target);
        case Op::SELECT:
            return select(a, b, c, target);
        case Op::CONVERT:
            return convert(num, a, target);
        default:
            fail(wye::Code::UNSUPPORTED,
                 "the cpu plugin does not run `" + std::string(ir::op_text(e.op)) + "`",
                 "Fix: use another device, or leave the construct out");
            return constant(num, 0);
    }
}

Value Compiler::fma(const std::array<Value, 3>& operands, const Target* target) {
    const auto& [a, b, c] = operands;
    Instr instr;
    const std::size_t n = a.num == Num::F64 ? 1 : a.num == Num::F16 ? 2 : 0;
    if (a.uniform() && b.uniform() && c.uniform()) {
        instr.a = scalar(a);
        instr.b = scalar(b);
        instr.c = scalar(c);
        return emit_scalar(a.num, scalar_kernels().fma[n], instr);
    }
    const Value x = to_lanes(a);
    const Value y = to_lanes(b);
    const Value z = to_lanes(c);
    instr.a = x.held->number();
    instr.b = y.held->number();
    instr.c = z.held->number();
    return emit_lanes(a.num, options_.kernels->fma[n], instr, target);
}

Values Compiler::bitcast(const ir::Expr& e, const Values& from) {
    const Num num = num_of(e.type.kind);
    Values out;
    if (num == Num::F16) {  // u32 to f16x2
        // This second holder prevents the shift from being fused with the instruction that computes
        // the value.
        const Value whole = from[0];
        const Value high = binary(Binary::Shr, whole, constant(Num::U32, 16));
        out.add(unary(Unary::BitsHalf, num, whole));
        out.add(unary(Unary::BitsHalf, num, high));
        return out;
    }
    if (from[0].num == Num::F16) {  // f16x2 to u32
        const Value low = unary(Unary::HalfBits, num, from[0]);
        const Value high = unary(Unary::HalfBits, num, from[1]);
        return binary(Binary::Or, low, binary(Binary::Shl, high, constant(Num::U32, 16)));
    }
    if (e.type.lanes == 2 && from.count == 1) {  // u64 to u32x2
        out.add(convert(Num::U32, from[0]));
        out.add(convert(Num::U32, binary(Binary::Shr, from[0], constant(Num::U32, 32))));
        return out;
    }
    if (e.type.lanes == 1 && from.count == 2) {  // u32x2 to u64
        const Value& low = from[0];
        const Value& high = from[1];
        if (low.constant() && high.constant())
            return constant(num, (high.bits << 32U) | (low.bits & 0xffffffffU));
        Instr operands;
        if (low.uniform() && high.uniform()) {
            operands.a = scalar(low);
            operands.b = scalar(high);
            return emit_scalar(num, scalar_kernels().pack, operands);
        }
        const Value x = to_lanes(low);
        const Value y = to_lanes(high);
        operands.a = x.held->number();
        operands.b = y.held->number();
        return emit_lanes(num, options_.kernels->pack, operands, nullptr);
    }
    for (std::size_t n = 0; n < from.count; ++n) {
        const Value& value = from[n];
        // A NaN becomes canonical if its bits become visible.
        const bool seen = floating(value.num) && !floating(num) && !value.never_nan;
        out.add(relabel(seen ? unary(Unary::Canonical, value.num, value) : value, num));
    }
    return out;
}

Values Compiler::call(Context& cx, const ir::Expr& e, const Targets* targets) {
    const ir::Function& function = program_.functions[e.imm];
    Context inner;
    inner.code = &function.code;
    inner.locals.resize(function.code.locals.size());
    std::vector<Lanes> lanes;
    const auto operands = cx.code->operands_of(e);
    for (std::size_t n = 0; n < operands.size(); ++n) {
        Values values = expr(cx, operands[n]);
        unsigned varying = 0;
        for (std::size_t part = 0; part < values.count; ++part)
            if (!values[part].uniform()) varying |= 1U << part;
        lanes.push_back(static_cast<Lanes>(varying));
        inner.locals[n].values = std::move(values);
        inner.locals[n].depth = control_.size();
    }
    inner.uniformity = &uniformities_.function(e.imm, lanes);
    inner.last_uses = &last_uses(function.code);
    Label end;
    block(inner, function.code.root, end);
    if (!end.uses.empty()) bind(end);
    return expr(inner, function.code.result, targets);
}

}  // namespace wye::cpu
