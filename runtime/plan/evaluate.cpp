// SPDX-License-Identifier: Apache-2.0
#include "plan/evaluate.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace wye::plan {
namespace {

using ir::Kind;
using ir::Op;
using Value = Evaluator::Value;

std::uint64_t mask(unsigned bits) {
    return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

// The arithmetic of one integer type, on zero-extended bits.
struct Integer {
    unsigned bits;
    bool is_signed;

    explicit Integer(ir::Type type) : bits(type.bits()), is_signed(type.signed_integer()) {}

    [[nodiscard]] std::int64_t number(std::uint64_t x) const {  // the value, for signed types
        const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
        return static_cast<std::int64_t>((x ^ sign) - sign);
    }
    [[nodiscard]] bool less(std::uint64_t a, std::uint64_t b) const {
        return is_signed ? number(a) < number(b) : a < b;
    }
    [[nodiscard]] std::uint64_t divide(std::uint64_t a, std::uint64_t b) const {
        if (b == 0) return a;
        if (!is_signed) return a / b;
        if (b == mask(bits)) return (0 - a) & mask(bits);
        return static_cast<std::uint64_t>(number(a) / number(b)) & mask(bits);
    }
    [[nodiscard]] std::uint64_t remainder(std::uint64_t a, std::uint64_t b) const {
        return b == 0 ? 0 : (a - divide(a, b) * b) & mask(bits);
    }
    [[nodiscard]] std::uint64_t shift_right(std::uint64_t a, std::uint64_t count) const {
        const std::uint64_t n = count & (bits - 1);
        if (!is_signed) return a >> n;
        return static_cast<std::uint64_t>(number(a) >> n) & mask(bits);
    }
};

std::optional<std::uint64_t> unary(Op op, ir::Type type, std::uint64_t a) {
    if (type.boolean()) return op == Op::LOGICAL_NOT ? std::optional(a ^ 1U) : std::nullopt;
    const Integer t(type);
    const std::uint64_t all = mask(t.bits);
    switch (op) {
        case Op::NEG:
            return (0 - a) & all;
        case Op::NOT:
            return ~a & all;
        case Op::ABS:
            return t.less(a, 0) ? (0 - a) & all : a;
        case Op::POPCOUNT:
            return static_cast<std::uint64_t>(std::popcount(a));
        case Op::CLZ:
            return static_cast<std::uint64_t>(std::countl_zero(a)) - (64 - t.bits);
        case Op::CTZ:
            return std::min<std::uint64_t>(static_cast<std::uint64_t>(std::countr_zero(a)), t.bits);
        default:
            return std::nullopt;
    }
}

std::optional<std::uint64_t> compared(Op op, ir::Type type, std::uint64_t a, std::uint64_t b) {
    const bool less = type.boolean() ? a < b : Integer(type).less(a, b);
    switch (op) {
        case Op::EQ:
            return a == b;
        case Op::NE:
            return a != b;
        case Op::LT:
            return less;
        case Op::LE:
            return less || a == b;
        case Op::GT:
            return !less && a != b;
        case Op::GE:
            return !less;
        case Op::LOGICAL_AND:
            return a & b;
        case Op::LOGICAL_OR:
            return a | b;
        default:
            return std::nullopt;
    }
}

std::optional<std::uint64_t> binary(Op op, ir::Type type, std::uint64_t a, std::uint64_t b) {
    if (const auto known = compared(op, type, a, b)) return known;
    if (type.boolean()) return std::nullopt;
    const Integer t(type);
    const std::uint64_t all = mask(t.bits);
    switch (op) {
        case Op::ADD:
            return (a + b) & all;
        case Op::SUB:
            return (a - b) & all;
        case Op::MUL:
            return (a * b) & all;
        case Op::DIV:
            return t.divide(a, b);
        case Op::REM:
            return t.remainder(a, b);
        case Op::AND:
            return a & b;
        case Op::OR:
            return a | b;
        case Op::XOR:
            return a ^ b;
        case Op::SHL:
            return (a << (b & (t.bits - 1))) & all;
        case Op::SHR:
            return t.shift_right(a, b);
        case Op::MIN:
            return t.less(a, b) ? a : b;
        case Op::MAX:
            return t.less(a, b) ? b : a;
        default:
            return std::nullopt;
    }
}

std::optional<std::uint64_t> converted(ir::Type to, ir::Type from, std::uint64_t a) {
    if (to == from || from.boolean()) return a;
    const Integer t(from);
    return (t.is_signed ? static_cast<std::uint64_t>(t.number(a)) : a) & mask(to.bits());
}

bool plain(ir::Type type) { return type.integer() || type.boolean(); }

}  // namespace

Evaluator::Evaluator(const ProgramPlan& plan, const Launch& launch)
    : plan_(plan),
      launch_(launch),
      code_(plan.program->main),
      counts_(plan.program->buffers.size()),
      locals_(code_.locals.size()) {
    for (std::size_t b = 0; b < counts_.size(); ++b) counts_[b] = plan.program->buffers[b].count;
    for (const BoundBuffer& bound : launch.bound()) counts_[bound.buffer_index] = bound.elements;
}

std::optional<Value> Evaluator::value(ir::ExprId id) const {
    const ir::Expr& e = code_.exprs[id];
    if (!plain(e.type)) return std::nullopt;
    if (e.count == 0) return leaf(e);
    if (e.op == Op::LOAD_TABLE) return element(e);
    const auto operands = code_.operands_of(e);
    switch (e.op) {
        case Op::COMPONENT: {
            const auto whole = value(operands[0]);
            if (!whole) return std::nullopt;
            return Value{(*whole)[e.imm]};
        }
        case Op::SPLAT: {
            const auto one = value(operands[0]);
            if (!one) return std::nullopt;
            return Value{(*one)[0], (*one)[0], (*one)[0], (*one)[0]};
        }
        case Op::CONSTRUCT: {
            Value out{};
            for (std::size_t k = 0; k < operands.size(); ++k) {
                const auto part = value(operands[k]);
                if (!part) return std::nullopt;
                out[k] = (*part)[0];
            }
            return out;
        }
        default:
            return operation(e);
    }
}

std::optional<Value> Evaluator::leaf(const ir::Expr& e) const {
    const auto number = [](std::uint64_t bits) { return Value{bits}; };
    const auto short_count = [](std::uint64_t count) {
        return Value{std::min<std::uint64_t>(count, 0xffffffffU)};
    };
    switch (e.op) {
        case Op::LITERAL:
            return number(e.extra);
        case Op::LOCAL:
            return locals_[static_cast<std::size_t>(e.extra)];
        case Op::PARAM:
            return parameter(e.imm);
        case Op::BUILTIN:
            return built_in(e.imm);
        case Op::LEN:
            return short_count(counts_[e.imm]);
        case Op::LEN64:
            return number(counts_[e.imm]);
        case Op::LEN_TABLE:
        case Op::LEN64_TABLE:
            return number(plan_.program->tables[e.imm].bits.size());
        case Op::LEN_ARRAY:
        case Op::LEN64_ARRAY:
            return number(code_.locals[static_cast<std::size_t>(e.extra)].count);
        default:
            return std::nullopt;
    }
}

std::optional<Value> Evaluator::parameter(std::uint16_t index) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, launch_.params + plan_.params.offsets[index],
                plan_.program->params[index].type.bytes());
    return Value{bits};
}

std::optional<Value> Evaluator::built_in(std::uint16_t index) const {
    if (index != WYE_BUILTIN_NUM_WORKGROUPS && index != WYE_BUILTIN_WORKGROUP_SIZE)
        return std::nullopt;
    const Count3& of = index == WYE_BUILTIN_NUM_WORKGROUPS ? launch_.groups : launch_.workgroup;
    return Value{of[0], of[1], of[2]};
}

std::optional<Value> Evaluator::element(const ir::Expr& e) const {
    const ir::ExprId index_id = code_.operands_of(e)[0];
    const auto index = value(index_id);
    if (!index) return std::nullopt;
    const auto& bits = plan_.program->tables[e.imm].bits;
    const ir::Type type = code_.exprs[index_id].type;
    const bool negative = type.signed_integer() && Integer(type).less((*index)[0], 0);
    return Value{!negative && (*index)[0] < bits.size() ? bits[(*index)[0]] : 0};
}

std::optional<Value> Evaluator::operation(const ir::Expr& e) const {
    const auto ids = code_.operands_of(e);
    if (ids.size() > 3) return std::nullopt;
    std::array<Value, 3> operands{};
    for (std::size_t n = 0; n < ids.size(); ++n) {
        const auto known = value(ids[n]);
        if (!known) return std::nullopt;
        operands[n] = *known;
    }
    const ir::Type type = code_.exprs[ids[0]].type;
    const auto& [a, b, c] = operands;
    Value out{};
    if (e.op == Op::ANY || e.op == Op::ALL) {
        const auto end = a.begin() + type.lanes;
        const auto on = static_cast<unsigned>(std::count(a.begin(), end, std::uint64_t{1}));
        return Value{e.op == Op::ANY ? on > 0 : on == type.lanes};
    }
    for (std::size_t k = 0; k < e.type.lanes; ++k) {
        std::optional<std::uint64_t> part;
        if (e.op == Op::SELECT) {
            part = a[type.lanes == 1 ? 0 : k] != 0 ? b[k] : c[k];
        } else if (e.op == Op::CLAMP) {
            const auto low = binary(Op::MAX, type, a[k], b[k]);
            part = low ? binary(Op::MIN, type, *low, c[k]) : low;
        } else if (e.op == Op::CONVERT) {
            part = converted(e.type, type, a[k]);
        } else if (e.op == Op::BITCAST && type.lanes == e.type.lanes) {
            part = a[k];
        } else if (ids.size() == 1) {
            part = unary(e.op, type, a[k]);
        } else if (ids.size() == 2) {
            part = binary(e.op, type, a[k], b[k]);
        }
        if (!part) return std::nullopt;
        out[k] = *part;
    }
    return out;
}

}  // namespace wye::plan
