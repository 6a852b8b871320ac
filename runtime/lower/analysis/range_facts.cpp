// SPDX-License-Identifier: Apache-2.0
#include "lower/analysis/range_facts.hpp"

namespace wye::lower {

using ir::Kind;
using ir::Op;

namespace {

bool is_unary(Op op) {
    return op == Op::NEG || op == Op::ABS || op == Op::POPCOUNT || op == Op::CLZ || op == Op::CTZ;
}

}  // namespace

Value RangeFacts::opaque(Kind kind, Interval interval) {
    ValueNode node;
    node.kind = kind;
    node.base = interval;
    nodes_.push_back(node);
    newest_.push_back(kNoFact);
    return static_cast<Value>(nodes_.size() - 1);
}

Value RangeFacts::single(const ValueNode& node) {
    nodes_.push_back(node);
    newest_.push_back(kNoFact);
    return static_cast<Value>(nodes_.size() - 1);
}

Value RangeFacts::number(const ValueNode& node) {
    const Key key{node.op, node.kind, node.detail, node.operands};
    const auto [at, inserted] = numbers_.try_emplace(key, static_cast<Value>(nodes_.size()));
    if (inserted) {
        nodes_.push_back(node);
        newest_.push_back(kNoFact);
    }
    return at->second;
}

void RangeFacts::add(Fact fact) {
    unsigned known = 0;
    for (std::uint32_t f = newest_[fact.a]; f != kNoFact; f = facts_[f].previous) ++known;
    if (known >= kFactsPerValue) return;
    fact.previous = newest_[fact.a];
    newest_[fact.a] = static_cast<std::uint32_t>(facts_.size());
    facts_.push_back(fact);
}

void RangeFacts::release(std::size_t mark) {
    while (facts_.size() > mark) {
        newest_[facts_.back().a] = facts_.back().previous;
        facts_.pop_back();
    }
}

void RangeFacts::less(Value a, Value b, bool strict) {
    const Interval left = interval(a);
    const Interval right = interval(b);
    add({a, b, Relation::Below, strict, {}});
    // A launch knows lengths, parameters and literals exactly, so no fact Above is kept for them.
    const Op op = node(b).op;
    if (op != Op::LEN && op != Op::LEN64 && op != Op::PARAM && op != Op::LITERAL)
        add({b, a, Relation::Above, strict, {}});
    const std::int64_t one = strict ? 1 : 0;
    const bool open = node(b).kind == Kind::U64 && right.high == Interval::kMost;
    if (!open && right.high > Interval::kLeast) within(a, {Interval::kLeast, right.high - one});
    if (left.low < Interval::kMost) within(b, {left.low + one, Interval::kMost});
}

void RangeFacts::within(Value a, Interval interval) {
    add({a, kNoValue, Relation::Within, false, interval});
}

void RangeFacts::apart(Value a, Value b) { add({a, b, Relation::Apart, false, {}}); }

Interval RangeFacts::interval(Value value, unsigned depth) const {
    const ValueNode& n = nodes_[value];
    Interval result = n.base;
    for (std::uint32_t f = newest_[value]; f != kNoFact; f = facts_[f].previous)
        if (facts_[f].relation == Relation::Within) result = meet(result, facts_[f].interval);
    if (depth == 0 || n.operands[0] == kNoValue) return result;
    const auto operand = [&](unsigned i) { return interval(n.operands[i], depth - 1); };
    if (n.op == Op::SELECT) return meet(result, join(operand(1), operand(2)));
    if (n.op == Op::CONVERT)
        return meet(result, converted(node(n.operands[0]).kind, n.kind, operand(0)));
    if (is_unary(n.op)) return meet(result, unary(n.op, n.kind, operand(0)));
    if (n.operands[1] == kNoValue || n.operands[2] != kNoValue) return result;
    return meet(result, binary(n.op, n.kind, operand(0), operand(1)));
}

bool RangeFacts::reaches(Value value, Value bound, bool strict, unsigned depth,
                         unsigned& budget) const {
    if (value == bound) return !strict;
    const Interval mine = interval(value);
    const Interval its = interval(bound);
    const bool open = node(value).kind == Kind::U64 && mine.high == Interval::kMost;
    if (!open && (strict ? mine.high < its.low : mine.high <= its.low)) return true;
    if (depth == 0 || budget == 0) return false;
    --budget;
    for (std::uint32_t f = newest_[value]; f != kNoFact; f = facts_[f].previous) {
        const Fact& fact = facts_[f];
        if (fact.relation != Relation::Below) continue;
        // With y = fact.b: value < y and y <= bound, or value <= y and y < bound.
        if (reaches(fact.b, bound, strict && !fact.strict, depth - 1, budget)) return true;
    }
    return structure_reaches(nodes_[value], bound, strict, depth, budget);
}

// Handles operations whose result cannot be greater than a certain operand.
bool RangeFacts::structure_reaches(const ValueNode& n, Value bound, bool strict, unsigned depth,
                                   unsigned& budget) const {
    const auto operand = [&](unsigned i) {
        return n.operands[i] != kNoValue &&
               reaches(n.operands[i], bound, strict, depth - 1, budget);
    };
    const auto low = [&](unsigned i) { return interval(n.operands[i]).low; };
    switch (n.op) {
        case Op::MIN:
            return operand(0) || operand(1);
        case Op::MAX:
            return operand(0) && operand(1);
        case Op::SELECT:
            return operand(1) && operand(2);
        case Op::AND:
            return (low(0) >= 0 && operand(0)) || (low(1) >= 0 && operand(1));
        case Op::REM:  // less than the divisor, unless that is zero
            if (low(0) >= 0 && low(1) >= 1 &&
                reaches(n.operands[1], bound, false, depth - 1, budget))
                return true;
            return low(0) >= 0 && low(1) >= 0 && operand(0);
        case Op::DIV:
        case Op::SHR:
            return low(0) >= 0 && (n.op == Op::SHR || low(1) >= 0) && operand(0);
        case Op::SUB: {  // at most the minuend if there is no borrow
            const Interval a = interval(n.operands[0]);
            const Interval b = interval(n.operands[1]);
            const bool open = node(n.operands[1]).kind == Kind::U64 && b.high == Interval::kMost;
            return b.low >= 0 && !open && a.low >= b.high && operand(0);
        }
        case Op::CONVERT: {  // keeps the value if the target type can represent it
            const Kind from = node(n.operands[0]).kind;
            const Interval a = interval(n.operands[0]);
            const bool open = from == Kind::U64 && a.high == Interval::kMost;
            return !open && whole(n.kind).contains(a) && operand(0);
        }
        default:
            return false;
    }
}

std::uint32_t RangeFacts::bound(Value value, Bounds& out) const {
    Made made;
    return bound(value, out, made, kBoundDepth);
}

std::uint32_t RangeFacts::bound(Value value, Bounds& out, Made& made, unsigned depth) const {
    const ValueNode& n = nodes_[value];
    const Interval known = interval(value);
    const auto plain = [&] { return out.fixed(n.kind, known); };
    out.spend();
    if (known.exact() || depth == 0 || out.full() || made.size() > kMaxMade) return plain();
    // If a value depends on itself, its interval is used until the result is known.
    const auto [at, fresh] = made.try_emplace(value, 0);
    if (!fresh) return at->second;
    at->second = plain();
    std::uint32_t result = structure_bound(value, out, made, depth);
    // Apart comes last: such a fact only removes an end of the interval, so the ends must be final.
    for (const Relation relation : {Relation::Below, Relation::Above, Relation::Apart}) {
        for (std::uint32_t f = newest_[value]; f != kNoFact; f = facts_[f].previous) {
            const Fact& fact = facts_[f];
            if (fact.relation != relation) continue;
            const std::uint32_t other = bound(fact.b, out, made, depth - 1);
            result = out.related(relation == Relation::Below   ? Bound::From::Below
                                 : relation == Relation::Above ? Bound::From::Above
                                                               : Bound::From::Apart,
                                 result, other, fact.strict, n.kind);
        }
    }
    if (known != whole(n.kind) && out.at(result).from != Bound::From::Fixed)
        result = out.within(result, known, n.kind);
    return made[value] = result;
}

std::uint32_t RangeFacts::structure_bound(Value value, Bounds& out, Made& made,
                                          unsigned depth) const {
    const ValueNode& n = nodes_[value];
    const auto operand = [&](unsigned i) { return bound(n.operands[i], out, made, depth - 1); };
    if (n.bound != kNoBound) return n.bound;
    switch (n.op) {
        case Op::PARAM:
            return out.leaf(Bound::From::Param, n.kind, static_cast<std::uint32_t>(n.detail));
        case Op::LEN:
            return out.leaf(Bound::From::Length, n.kind, static_cast<std::uint32_t>(n.detail));
        case Op::LEN64:
            return out.leaf(Bound::From::Length64, n.kind, static_cast<std::uint32_t>(n.detail));
        case Op::BUILTIN: {
            const auto axis = static_cast<std::uint32_t>(n.detail % 4);
            switch (n.detail / 4) {
                case WYE_BUILTIN_NUM_WORKGROUPS:
                    return out.leaf(Bound::From::Groups, n.kind, axis);
                case WYE_BUILTIN_WORKGROUP_ID:
                    return out.leaf(Bound::From::GroupId, n.kind, axis);
                case WYE_BUILTIN_GLOBAL_ID:
                    return out.leaf(Bound::From::GlobalId, n.kind, axis);
                default:
                    return out.fixed(n.kind, n.base);
            }
        }
        case Op::CONVERT:
            return out.converted(nodes_[n.operands[0]].kind, n.kind, operand(0));
        case Op::SELECT:
            return out.joined(operand(1), operand(2), n.kind);
        case Op::CLAMP:
            return out.binary(Op::MIN, n.kind, out.binary(Op::MAX, n.kind, operand(0), operand(1)),
                              operand(2));
        default:
            break;
    }
    if (n.op == Op::None || n.op == Op::LITERAL || n.operands[0] == kNoValue ||
        n.kind == Kind::BOOL)
        return out.fixed(n.kind, n.base);
    if (n.operands[1] == kNoValue) {
        if (!is_unary(n.op)) return out.fixed(n.kind, n.base);
        return out.unary(n.op, n.kind, operand(0));
    }
    if (n.operands[2] != kNoValue) return out.fixed(n.kind, n.base);
    return out.binary(n.op, n.kind, operand(0), operand(1));
}

}  // namespace wye::lower
