// SPDX-License-Identifier: Apache-2.0
#include "lower/range_facts.hpp"

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
    add({a, b, strict, {}});
    const std::int64_t one = strict ? 1 : 0;
    const bool open = node(b).kind == Kind::U64 && right.high == Interval::kMost;
    if (!open && right.high > Interval::kLeast) within(a, {Interval::kLeast, right.high - one});
    if (left.low < Interval::kMost) within(b, {left.low + one, Interval::kMost});
}

void RangeFacts::within(Value a, Interval interval) { add({a, kNoValue, false, interval}); }

Interval RangeFacts::interval(Value value, unsigned depth) const {
    const ValueNode& n = nodes_[value];
    Interval result = n.base;
    for (std::uint32_t f = newest_[value]; f != kNoFact; f = facts_[f].previous)
        if (facts_[f].b == kNoValue) result = meet(result, facts_[f].interval);
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
        if (fact.b == kNoValue) continue;
        // value < y and y <= bound, or value <= y and y < bound
        if (reaches(fact.b, bound, strict && !fact.strict, depth - 1, budget)) return true;
    }
    return structure_reaches(nodes_[value], bound, strict, depth, budget);
}

// Results that are never above one of their operands.
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
        case Op::REM:  // below its divisor, unless that is zero
            if (low(0) >= 0 && low(1) >= 1 &&
                reaches(n.operands[1], bound, false, depth - 1, budget))
                return true;
            return low(0) >= 0 && low(1) >= 0 && operand(0);
        case Op::DIV:
        case Op::SHR:
            return low(0) >= 0 && (n.op == Op::SHR || low(1) >= 0) && operand(0);
        case Op::SUB: {  // no borrow: never above the minuend
            const Interval a = interval(n.operands[0]);
            const Interval b = interval(n.operands[1]);
            return b.low >= 0 && a.low >= b.high && operand(0);
        }
        case Op::CONVERT: {  // keeps the value when the target has it
            const Kind from = node(n.operands[0]).kind;
            const Interval a = interval(n.operands[0]);
            const bool open = from == Kind::U64 && a.high == Interval::kMost;
            return !open && whole(n.kind).contains(a) && operand(0);
        }
        default:
            return false;
    }
}

}  // namespace wye::lower
