// SPDX-License-Identifier: Apache-2.0
//
// Chooses the form of counted loops, and makes their arithmetic.
#include "lower/middle/loop.hpp"

#include <algorithm>

#include "lower/analysis/barrier_data.hpp"
#include "lower/analysis/literal_loop.hpp"
#include "lower/middle/code.hpp"
#include "lower/middle/maker.hpp"
#include "lower/passes/open_loop.hpp"
#include "lower/quirks/table_rounds.hpp"

namespace wye::lower::middle {
namespace {

using ir::Kind;
using ir::Op;

StepId unsigned_less(Maker& m, StepId a, StepId b) {
    return m.less(m.as(a, m.word), m.as(b, m.word));
}

// Returns the least value of the counter's kind.
StepId least(Maker& m) { return m.number(m.is_signed ? m.sign_bit() : 0); }

void make_rounds(Maker& m, bool from_zero, bool by_one) {
    const StepId first = from_zero ? m.number(0) : m.operand();
    const StepId end = m.operand();
    const StepId one = m.literal(m.word, 1);
    const StepId span = from_zero ? end : m.minus(end, first);
    StepId steps = m.minus(m.as(span, m.word), one);
    if (!by_one) steps = m.op(Op::DIV, steps, m.as(m.operand(), m.word));
    m.select(m.less(first, end), m.plus(steps, one), m.literal(m.word, 0));
}

void make_group_stop(Maker& m, unsigned together) {
    const StepId end = m.operand();
    const StepId step = m.operand();
    const StepId jump = m.operand();
    const std::uint64_t most = m.all_ones() >> (m.is_signed ? 1U : 0U);
    const StepId exact = m.less(m.as(step, m.word), m.literal(m.word, most / together + 1));
    const StepId above = m.is_signed ? m.plus(least(m), jump) : jump;
    m.select(m.both(exact, m.less(above, end)), m.minus(end, jump), least(m));
}

}  // namespace

bool make_loop(Maker& m, Form& form, LoopPart part) {
    form.repeats_operands = true;
    switch (part) {
        case LoopPart::AtLeastOne: {
            const StepId step = m.operand();
            m.select(m.less(step, m.number(1)), m.number(1), step);
            return true;
        }
        case LoopPart::Rounds:
        case LoopPart::RoundsByOne:
        case LoopPart::RoundsFromZero:
        case LoopPart::RoundsFromZeroByOne:
            make_rounds(m, part >= LoopPart::RoundsFromZero,
                        part == LoopPart::RoundsByOne || part == LoopPart::RoundsFromZeroByOne);
            return true;
        case LoopPart::StopOfFour:
        case LoopPart::StopOfEight:
            make_group_stop(m, part == LoopPart::StopOfFour ? 4 : 8);
            return true;
        case LoopPart::EndInLength: {
            const StepId end = m.operand();
            const StepId length = m.operand();
            m.select(unsigned_less(m, end, length), end, length);
            return true;
        }
        case LoopPart::EndIfNotNegative: {
            const StepId end = m.operand();
            const StepId first = m.operand();
            const StepId given = m.operand();
            m.select(m.less(m.either_bits(first, given), m.number(0)), least(m), end);
            return true;
        }
        case LoopPart::Last: {
            const StepId i = m.operand();
            const StepId end = m.operand();
            const StepId step = m.operand();
            m.at_least(m.as(step, m.word), m.as(m.minus(end, i), m.word));
            return true;
        }
    }
    return false;
}

FormKey loop_rounds(Kind kind, bool from_zero, bool by_one) {
    if (from_zero)
        return loop_part(by_one ? LoopPart::RoundsFromZeroByOne : LoopPart::RoundsFromZero, kind);
    return loop_part(by_one ? LoopPart::RoundsByOne : LoopPart::Rounds, kind);
}

FormKey group_stop(Kind kind, unsigned together) {
    return loop_part(together == 4 ? LoopPart::StopOfFour : LoopPart::StopOfEight, kind);
}

// ---- The choice of the form -------------------------------------------------------------------

// Returns the literal that an expression is equal to, directly or through lets, or nothing.
std::optional<std::uint64_t> CodeForm::literal(ir::ExprId id) const {
    if (lets_.empty()) {
        lets_.resize(code.locals.size(), ir::kNone);
        for (const ir::Stmt& s : code.stmts)
            if (s.op == Op::LET) lets_[s.local] = s.args[0];
    }
    const ir::Expr* e = &code.exprs[id];
    while (e->op == Op::LOCAL && lets_[static_cast<std::size_t>(e->extra)] != ir::kNone)
        e = &code.exprs[lets_[static_cast<std::size_t>(e->extra)]];
    if (!is_leaf(e->op)) return std::nullopt;
    const Leaf leaf = leaf_of(program_.program, code, *e);
    if (leaf.outer) return std::nullopt;
    return leaf.bits;
}

// Returns how many iterations run together. If the body writes, fewer do, since writes separate the
// loads.
unsigned CodeForm::rounds_together(const ir::Stmt& s) const {
    const Target& target = program_.target;
    if (target.most_together == 1 || code.locals[s.local].type.bits() != 32) return 1;
    // The compiler itself unrolls such a loop.
    if (target.unrolls_literal_steps ? literal(s.args[2]).has_value()
                                     : literal(s.args[0]) && literal(s.args[1]))
        return 1;
    const LoopBody body = loop_body(program_.program, code, s.body);
    const std::size_t most_nodes = target.most_together_nodes;
    if (target.most_together >= 8 && !body.writes && body.worth_several(most_nodes / 8)) return 8;
    return body.worth_several(most_nodes / 4) ? 4 : 1;
}

Loop::Unroll CodeForm::unrolling(const ir::Stmt& s) const {
    const Target& target = program_.target;
    // A driver that runs a workgroup in one thread splits the code at every barrier, so unrolled
    // barriers are slow to compile.
    const bool cut = (target.workgroup_loops && holds_barrier(code, s.body)) ||
                     (target.quirks.has(Quirk::MesaUnrollTableLoop) &&
                      unrolled_without_end(program_.program, code, s));
    if (cut) return Loop::Unroll::Never;
    const bool all = !target.workgroup_loops && target.unroll_marks &&
                     worth_unrolling(program_.program, code, s);
    return all ? Loop::Unroll::All : Loop::Unroll::Free;
}

// Whether a multiple of the step may overflow the type. A compiler that unrolls the loop tests the
// distance to the end against such a multiple.
bool CodeForm::steps_may_wrap(ir::Type type, std::uint64_t step) const {
    constexpr std::uint64_t kMostUnrolled = 64;
    const unsigned bits = type.bits() - (type.signed_integer() ? 1 : 0);
    return program_.target.quirks.has(Quirk::PtxasUnrolledStep) &&
           step > (UINT64_MAX >> (64 - bits)) / kMostUnrolled;
}

Loop CodeForm::loop(ir::StmtId id) const {
    const bool run_by_workgroup = regions.together(id);
    const ir::Stmt& s = code.stmts[id];
    const ir::Type type = code.locals[s.local].type;
    Loop out;
    out.kind = type.kind;
    if (const auto given = literal(s.args[2])) {
        const bool negative = type.signed_integer() && (*given >> (type.bits() - 1)) != 0;
        out.step = *given == 0 || negative ? 1 : *given;
    }
    if (!run_by_workgroup) out.together = rounds_together(s);
    const bool plain = ranges_->plain_loops[id];
    if (out.together == 1)
        out.test =
            plain && !steps_may_wrap(type, out.step) ? Loop::Test::Counter : Loop::Test::Rounds;
    else if (!plain || program_.target.unrolls_by_division)
        out.test = Loop::Test::End;  // counting iterations would need a division
    const bool by_lengths =
        program_.target.doubles_loops ? out.together == 1 && out.step != 0 : out.together > 1;
    if (by_lengths && !run_by_workgroup) {
        if (!data_loops_) data_loops_.emplace(program_.program, code);
        out.lengths = data_loops_->lengths(*ranges_, s);
    }
    out.unroll = unrolling(s);
    return out;
}

std::vector<Leaf> CodeForm::least_lengths(const Loop& loop) const {
    std::vector<Leaf> out;
    const auto add = [&](const Array& array) {
        const Leaf length = length_of(array.count, loop.kind);
        if (std::ranges::find(out, length) == out.end()) out.push_back(length);
    };
    for (const std::uint32_t b : loop.lengths.buffers) add(program_.buffer(b));
    for (const std::uint32_t t : loop.lengths.tables) add(program_.table(t));
    return out;
}

}  // namespace wye::lower::middle
