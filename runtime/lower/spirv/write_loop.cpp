// SPDX-License-Identifier: Apache-2.0
//
// Writes counted loops.
#include <algorithm>

#include "lower/middle/library.hpp"
#include "lower/spirv/words.hpp"
#include "lower/spirv/writer.hpp"

namespace wye::lower {
namespace {

using middle::LoopPart;
using Test = middle::Loop::Test;

constexpr auto kDontUnroll = static_cast<std::uint32_t>(spv::LoopControlMask::DontUnroll);

// Whether a block of a loop (its body, or a branch in the body) has a `continue` of that loop.
bool holds_continue(const ir::Code& code, ir::BlockId block) {
    return block != ir::kNone && std::ranges::any_of(code.blocks[block], [&](ir::StmtId id) {
               const ir::Stmt& s = code.stmts[id];
               return s.op == ir::Op::CONTINUE ||
                      (s.op == ir::Op::IF &&
                       (holds_continue(code, s.body) || holds_continue(code, s.otherwise)));
           });
}

}  // namespace

void SpirvWriter::for_statement(ir::StmtId id) {
    const ir::Stmt& s = code_.stmts[id];
    const middle::Loop form = form_.loop(id);
    Counted counted;
    counted.first = shallow(s.args[0], value(s.args[0]).c[0]);
    counted.end = value(s.args[1]).c[0];
    if (form.step != 0)
        counted.step = module_.literal(form.kind, form.step);
    else
        counted.step = loop_value(middle::loop_part(LoopPart::AtLeastOne, form.kind),
                                  {shallow(s.args[2], value(s.args[2]).c[0])});
    if (form.together > 1) counted.first = groups_of_rounds(s, form, counted);
    counted_loop(s, form, counted);
}

std::uint32_t SpirvWriter::loop_control(const ir::Stmt& loop) const {
    const bool kept = context_.quirk(Quirk::NvidiaVkContinue) && holds_continue(code_, loop.body);
    return kept ? kDontUnroll : kNoLoopControl;
}

Id SpirvWriter::loop_value(middle::FormKey key, std::initializer_list<Id> operands) {
    return spirv_form(b_, key, std::span(operands.begin(), operands.size()));
}

// Runs iterations in groups, so that their loads are in flight at the same time: drivers do not
// unroll loops without a known end. If the end is loaded data, groups also stop before the shortest
// array, so accesses at the counter need no checks; the remaining iterations are checked. Returns
// the counter at which the groups stopped.
Id SpirvWriter::groups_of_rounds(const ir::Stmt& s, const middle::Loop& form,
                                 const Counted& counted) {
    const Id held = module_.value_type(form.kind);
    Id end = counted.end;
    for (const middle::Leaf& length : form_.least_lengths(form))
        end =
            loop_value(middle::loop_part(LoopPart::EndInLength, form.kind), {end, b_.leaf(length)});
    if (form.signed_counter() && !form.lengths.empty())  // lengths bound only non-negative indices
        end = loop_value(middle::loop_part(LoopPart::EndIfNotNegative, form.kind),
                         {end, counted.first, counted.end});
    const Id jump = b_.op(spv::Op::OpIMul, counted.step, module_.literal(form.kind, form.together));
    const Id stop =
        loop_value(middle::group_stop(form.kind, form.together), {end, counted.step, jump});

    const Loop loop = open_loop();
    const Id next_i = module_.typed(module_.fresh(), held);
    const Id i = counter(loop, counted.first, next_i);
    const Id goes_on = b_.less(i, stop, form.signed_counter());
    b_.act(spv::Op::OpLoopMerge, {loop.merge, loop.next, loop_control(s)});
    open_body(loop, goes_on);
    Id at = i;
    form_.assume(form.lengths, true);
    for (unsigned round = 0; round < form.together; ++round) {
        if (round != 0) at = b_.op(spv::Op::OpIAdd, at, counted.step);
        locals_[s.local].c[0] = at;
        block(s.body);
    }
    form_.assume(form.lengths, false);
    end_body(loop);
    b_.act(spv::Op::OpIAdd, {held, next_i, at, counted.step});
    close(loop);
    return i;
}

void SpirvWriter::counted_loop(const ir::Stmt& s, const middle::Loop& form,
                               const Counted& counted) {
    const ir::Kind kind = form.kind;
    const Id held = module_.value_type(kind);
    Id rounds = 0;
    if (form.test == Test::Rounds && form.step == 1)
        rounds = loop_value(middle::loop_rounds(kind, false, true), {counted.first, counted.end});
    else if (form.test == Test::Rounds)
        rounds = loop_value(middle::loop_rounds(kind, false, false),
                            {counted.first, counted.end, counted.step});
    const Loop loop = open_loop();
    const Id next_i = module_.typed(module_.fresh(), held);
    const Id next_round = module_.typed(module_.fresh(), held);
    const Id i = counter(loop, counted.first, next_i);
    Id goes_on = 0;
    Id round = 0;
    if (rounds == 0) {
        goes_on = b_.less(i, counted.end, form.signed_counter());
    } else {
        round = counter(loop, zero(kind), next_round);
        goes_on = b_.less(round, rounds, false);
    }
    // The loops of emulations seldom run, and a driver would unroll them at each call.
    const bool cut =
        form.unroll == middle::Loop::Unroll::Never || &source_.program == &middle::emulations();
    b_.act(spv::Op::OpLoopMerge, {loop.merge, loop.next, cut ? kDontUnroll : loop_control(s)});
    open_body(loop, goes_on);
    locals_[s.local].c[0] = i;
    body(loop, s.body);
    if (form.test == Test::End) {
        const Id last =
            loop_value(middle::loop_part(LoopPart::Last, kind), {i, counted.end, counted.step});
        const Id next = b_.op(spv::Op::OpIAdd, i, counted.step);
        b_.act(spv::Op::OpSelect, {held, next_i, last, counted.end, next});
    } else {
        b_.act(spv::Op::OpIAdd, {held, next_i, i, counted.step});
    }
    if (round != 0) b_.act(spv::Op::OpIAdd, {held, next_round, round, module_.literal(kind, 1)});
    close(loop);
}

}  // namespace wye::lower
