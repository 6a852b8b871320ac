// SPDX-License-Identifier: Apache-2.0
//
// The forms of subgroup operations. Reductions and scans use shuffles in the order that the
// language defines, so that float sums have the same bits on every device.
#include "lower/middle/maker.hpp"

namespace wye::lower::middle {
namespace {

using ir::Kind;
using ir::Op;

// Returns the scalar operation of a reduction or scan.
Op step_of(Op op) {
    switch (op) {
        case Op::SUBGROUP_MIN:
            return Op::MIN;
        case Op::SUBGROUP_MAX:
            return Op::MAX;
        case Op::SUBGROUP_AND:
            return Op::AND;
        case Op::SUBGROUP_OR:
            return Op::OR;
        case Op::SUBGROUP_XOR:
            return Op::XOR;
        default:
            return Op::ADD;
    }
}

// Makes the value of another lane. `lane` is that lane's number for SUBGROUP_SHUFFLE, and a mask
// for SUBGROUP_SHUFFLE_XOR; both are below the width. If shuffles move u32 only, wide values are
// moved word by word, and floats as their bits.
StepId moved(Maker& m, Op how, StepId value, StepId lane) {
    if (!m.target.shuffles_words_only) return m.make(how, m.kind, m.kind, {value, lane});
    const auto word = [&](StepId part) { return m.make(how, Kind::U32, Kind::U32, {part, lane}); };
    const StepId bits = m.as(value, m.word);
    if (!m.wide) return m.as(word(bits), m.kind);
    const StepId low = word(m.low_word(bits));
    return m.as(m.join_words(low, word(m.high_word(bits))), m.kind);
}

StepId combined(Maker& m, Op op, StepId a, StepId b) {
    return m.apply(operation(op, m.kind), m.kind, {a, b});
}

// Combines the value with the values of the lanes at distance 1, 2, 4 up to half the width.
void reduce(Maker& m, Op op) {
    StepId v = m.operand();
    for (unsigned distance = 1; distance < m.target.subgroup; distance *= 2)
        v = combined(m, step_of(op), v, moved(m, Op::SUBGROUP_SHUFFLE_XOR, v, m.u32(distance)));
    m.result(v);
}

// Makes a scan. The second operand is the lane of the invocation.
void scan(Maker& m, Op op) {
    StepId v = m.operand();
    const StepId lane = m.operand(Kind::U32);
    const StepId last = m.u32(m.target.subgroup - 1);
    const auto below = [&](unsigned distance) {
        const StepId from = m.both_bits(m.minus(lane, m.u32(distance)), last);
        return moved(m, Op::SUBGROUP_SHUFFLE, v, from);
    };
    for (unsigned distance = 1; distance < m.target.subgroup; distance *= 2) {
        const StepId sum = combined(m, Op::ADD, below(distance), v);
        v = m.select(m.test(Op::GE, lane, m.u32(distance)), sum, v);
    }
    if (op == Op::SUBGROUP_EXCLUSIVE_ADD) {
        const StepId first = m.equal(lane, m.u32(0));
        v = m.select(first, m.number(0), below(1));
    }
    m.result(v);
}

// Makes a vote: tests the ballot for any lane or for all lanes.
void vote(Maker& m, Op op) {
    const StepId condition = m.operand();
    if (m.target.votes) {
        m.make(op, Kind::BOOL, Kind::BOOL, {condition});
        return;
    }
    const bool all = op == Op::SUBGROUP_ALL;
    const unsigned width = m.target.subgroup;
    StepId answer = 0;
    for (unsigned first = 0; first < width; first += 32) {
        const std::uint64_t full = width - first < 32 ? (1U << (width - first)) - 1U : 0xffffffffU;
        const StepId bits =
            m.make(Op::SUBGROUP_BALLOT, Kind::U32, Kind::BOOL, {condition, m.u32(first / 32)});
        const StepId part = m.test(all ? Op::EQ : Op::NE, bits, m.u32(all ? full : 0));
        answer = first == 0 ? part : all ? m.both(answer, part) : m.either(answer, part);
    }
    m.result(answer);
}

}  // namespace

bool make_subgroup(Maker& m, Form&, Op op) {
    switch (op) {
        case Op::SUBGROUP_BROADCAST:
        case Op::SUBGROUP_SHUFFLE:
        case Op::SUBGROUP_SHUFFLE_XOR: {
            const bool across = op == Op::SUBGROUP_SHUFFLE_XOR;
            const StepId v = m.operand();
            const StepId given = m.operand(Kind::U32);
            const StepId lane = m.both_bits(given, m.u32(m.target.subgroup - 1));
            m.result(moved(m, across ? op : Op::SUBGROUP_SHUFFLE, v, lane));
            return true;
        }
        case Op::SUBGROUP_ANY:
        case Op::SUBGROUP_ALL:
            vote(m, op);
            return true;
        case Op::SUBGROUP_INCLUSIVE_ADD:
        case Op::SUBGROUP_EXCLUSIVE_ADD:
            scan(m, op);
            return true;
        case Op::SUBGROUP_ADD:
        case Op::SUBGROUP_MIN:
        case Op::SUBGROUP_MAX:
        case Op::SUBGROUP_AND:
        case Op::SUBGROUP_OR:
        case Op::SUBGROUP_XOR:
            reduce(m, op);
            return true;
        default:
            return false;
    }
}

}  // namespace wye::lower::middle
