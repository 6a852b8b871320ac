// SPDX-License-Identifier: Apache-2.0
//
// Counted loops.
#include "lower/analysis/barrier_data.hpp"
#include "lower/passes/open_loop.hpp"
#include "lower/quirks/table_rounds.hpp"
#include "lower/spirv/writer.hpp"

namespace wye::lower {
namespace {

using ir::Op;

constexpr auto kDontUnroll = static_cast<std::uint32_t>(spv::LoopControlMask::DontUnroll);
constexpr unsigned kRounds = 4;
constexpr std::size_t kMostNodes = 48;  // of a body that is written kRounds times

}  // namespace

// i is first, first + step, ... while less than end. If adding the step may overflow, rounds are
// counted, or i becomes the end.
void SpirvWriter::for_statement(ir::StmtId id) {
    const ir::Stmt& s = code_.stmts[id];
    const ir::Type type = code_.locals[s.local].type;
    const bool is_signed = type.signed_integer();
    Counted counted;
    counted.kind = type.kind;
    const Id one = module_.literal(type.kind, 1);
    counted.first = shallow(s.args[0], value(s.args[0]).c[0]);
    counted.end = value(s.args[1]).c[0];
    counted.step = shallow(s.args[2], value(s.args[2]).c[0]);
    const auto known = module_.known(counted.step);
    const std::uint64_t most = type.bits() == 64 ? ~std::uint64_t{0} : 0xffffffffU;
    if (!known)  // below 1 counts as 1
        counted.step = b_.select(b_.less(counted.step, one, is_signed), one, counted.step);
    else if (*known == 0 || *known > (is_signed ? most / 2 : most))
        counted.step = one;
    // The driver unrolls loops with literal bounds. On a CPU, loads in flight together gain
    // nothing.
    const bool fixed = module_.known(counted.first) && module_.known(counted.end);
    const bool cpu = b_.context.facts.workgroup_loops;
    Id rounds = 0;
    const bool plain = form_.ranges.plain_loops[id];
    if (type.bits() == 32 && !fixed && !cpu &&
        loop_body(source_.program, code_, s.body).worth_several(kMostNodes)) {
        counted.first = several_at_a_time(s, counted);
        counted.stops = !plain;  // a division would cost more than the few remaining rounds
    } else if (!plain) {
        const Id span =
            b_.op(spv::Op::OpISub, b_.op(spv::Op::OpISub, counted.end, counted.first), one);
        const Id steps = counted.step == one ? span : b_.op(spv::Op::OpUDiv, span, counted.step);
        rounds = b_.select(b_.less(counted.first, counted.end, is_signed),
                           b_.op(spv::Op::OpIAdd, steps, one), zero(type.kind));
    }
    counted_loop(s, counted, rounds);
}

// The distinct lengths that the loop's end is compared with.
std::set<Id> SpirvWriter::values_of(const LoopLengths& lengths, ir::Kind index) {
    std::set<Id> values;
    for (const std::uint32_t b : lengths.buffers)
        values.insert(b_.leaf(middle::length_of(source_.form.buffer(b).count, index)));
    for (const std::uint32_t t : lengths.tables)
        values.insert(b_.leaf(middle::length_of(source_.form.table(t).count, index)));
    return values;
}

// Runs kRounds rounds at a time while that many are left, without overflow, so that their loads are
// in flight together: drivers do not unroll loops of unknown end. If the end is loaded data, it
// also stops before the shortest array, so accesses at the counter need no checks; the remaining
// rounds are checked. Returns the counter at which it stopped.
Id SpirvWriter::several_at_a_time(const ir::Stmt& s, const Counted& counted) {
    const Id held = module_.value_type(counted.kind);
    const bool is_signed = counted.kind == ir::Kind::I32;
    const Id least = module_.literal(counted.kind, is_signed ? 0x80000000U : 0);
    const std::uint32_t most_step = (is_signed ? 0x7fffffffU : 0xffffffffU) / kRounds;
    const LoopLengths lengths = data_loops_.lengths(form_.ranges, s);
    Id end = counted.end;
    for (const Id length : values_of(lengths, counted.kind))
        end = b_.select(b_.less(end, length, false), end, length);
    // A group of rounds may start below end - rounds * step, if that does not overflow.
    const Id jump = b_.op(spv::Op::OpIMul, counted.step, module_.literal(counted.kind, kRounds));
    const Id exact =
        b_.test(spv::Op::OpULessThanEqual, counted.step, module_.literal(counted.kind, most_step));
    const Id above = b_.less(b_.op(spv::Op::OpIAdd, least, jump), end, is_signed);
    Id several = b_.both(exact, above);
    if (is_signed && !lengths.empty()) {  // lengths bound only non-negative indices
        const Id signs = b_.op(spv::Op::OpBitwiseOr, counted.first, counted.end);
        const Id negative = b_.less(signs, zero(counted.kind), true);
        several = b_.both(several, b_.op(spv::Op::OpLogicalNot, negative));
    }
    const Id stop = b_.select(several, b_.op(spv::Op::OpISub, end, jump), least);

    const Loop loop{module_.fresh(), module_.fresh(), watch()};
    const Id before = b_.here();
    const Id header = module_.fresh();
    const Id body = module_.fresh();
    const Id next_i = module_.typed(module_.fresh(), held);
    b_.branch(header);
    b_.open(header);
    const Id i = b_.make(spv::Op::OpPhi, held, {counted.first, before, next_i, loop.next});
    const Id goes_on = b_.less(i, stop, is_signed);
    b_.act(spv::Op::OpLoopMerge, {loop.merge, loop.next, kNoLoopControl});
    const Id out = way_out(loop);
    b_.branch(goes_on, body, out);
    leave(loop, out);
    b_.open(body);
    Id at = i;
    set_in_range(form_.ranges, lengths, true);
    for (unsigned round = 0; round < kRounds; ++round) {
        if (round != 0) at = b_.op(spv::Op::OpIAdd, at, counted.step);
        locals_[s.local].c[0] = at;
        block(s.body);
    }
    set_in_range(form_.ranges, lengths, false);
    b_.branch(loop.next);
    b_.open(loop.next);
    b_.act(spv::Op::OpIAdd, {held, next_i, at, counted.step});
    b_.branch(header);
    close(loop);
    return i;
}

// `rounds`: 0 if i may be compared with the end.
void SpirvWriter::counted_loop(const ir::Stmt& s, const Counted& counted, Id rounds) {
    const ir::Kind kind = counted.kind;
    const Id held = module_.value_type(kind);
    const Loop loop{module_.fresh(), module_.fresh(), watch()};
    const Id before = b_.here();
    const Id header = module_.fresh();
    const Id body = module_.fresh();
    const Id next_i = module_.typed(module_.fresh(), held);
    const Id next_round = module_.typed(module_.fresh(), held);
    b_.branch(header);
    b_.open(header);
    const Id i = b_.make(spv::Op::OpPhi, held, {counted.first, before, next_i, loop.next});
    Id goes_on = 0;
    Id round = 0;
    if (rounds == 0) {
        goes_on = b_.less(i, counted.end, ir::Type{kind, 1}.signed_integer());
    } else {
        round = b_.make(spv::Op::OpPhi, held, {zero(kind), before, next_round, loop.next});
        goes_on = b_.less(round, rounds, false);
    }
    // Drivers that run a workgroup on one thread split the code at every barrier, so unrolled
    // barriers are slow to compile.
    const bool cut =
        (b_.context.facts.workgroup_loops && holds_barrier(code_, s.body)) ||
        (b_.quirk(Quirk::MesaUnrollTableLoop) && unrolled_without_end(source_.program, code_, s));
    b_.act(spv::Op::OpLoopMerge, {loop.merge, loop.next, cut ? kDontUnroll : kNoLoopControl});
    const Id out = way_out(loop);
    b_.branch(goes_on, body, out);
    leave(loop, out);
    b_.open(body);
    locals_[s.local].c[0] = i;
    loops_.push_back(loop);
    block(s.body);
    loops_.pop_back();
    if (!b_.ended()) b_.branch(loop.next);
    b_.open(loop.next);
    if (counted.stops) {
        const Id left = b_.op(spv::Op::OpISub, counted.end, i);
        const Id next = b_.op(spv::Op::OpIAdd, i, counted.step);
        b_.act(spv::Op::OpSelect,
               {held, next_i, b_.less(counted.step, left, false), next, counted.end});
    } else {
        b_.act(spv::Op::OpIAdd, {held, next_i, i, counted.step});
    }
    if (round != 0) b_.act(spv::Op::OpIAdd, {held, next_round, round, module_.literal(kind, 1)});
    b_.branch(header);
    close(loop);
}

}  // namespace wye::lower
