// SPDX-License-Identifier: Apache-2.0
#include "plan/segment_uses.hpp"

#include <algorithm>

namespace wye::plan {
namespace {

using ir::Op;

bool holds_barrier(const ir::Code& code, ir::BlockId block) {
    return std::ranges::any_of(code.blocks[block], [&](ir::StmtId id) {
        const ir::Stmt& s = code.stmts[id];
        return s.op == Op::GRID_BARRIER || (s.op == Op::FOR && holds_barrier(code, s.body));
    });
}

}  // namespace

bool names_local(Op op) {
    return op == Op::LOCAL || op == Op::LOAD_ARRAY || op == Op::LEN_ARRAY || op == Op::LEN64_ARRAY;
}

bool declares(Op op) {
    return op == Op::LET || op == Op::VAR || op == Op::VAR_ZERO || op == Op::VAR_ARRAY ||
           op == Op::FOR;
}

SegmentUses::SegmentUses(const ir::Code& code)
    : code_(code),
      phase_loop_(code.stmts.size(), false),
      definitions_(code.locals.size(), ir::kNone) {
    for (ir::StmtId id = 0; id < code.stmts.size(); ++id) {
        const ir::Stmt& s = code.stmts[id];
        if (s.op == Op::LET || s.op == Op::FOR) definitions_[s.local] = id;
        phase_loop_[id] = s.op == Op::FOR && holds_barrier(code, s.body);
    }
}

SegmentUses::Names SegmentUses::of(const Segment& segment) {
    needed_.assign(code_.locals.size(), false);
    declared_.assign(code_.locals.size(), false);
    const auto& statements = code_.blocks[segment.block];
    for (std::uint32_t at = segment.first; at < segment.last; ++at) look_at(statements[at]);
    Names out;
    for (std::size_t local = 0; local < needed_.size(); ++local) {  // locals are in text order
        if (!needed_[local]) continue;
        const ir::StmtId id = definitions_[local];
        (code_.stmts[id].op == Op::FOR ? out.counters : out.lets).push_back(id);
    }
    return out;
}

void SegmentUses::look_at(ir::StmtId id) {
    const ir::Stmt& s = code_.stmts[id];
    for (const ir::ExprId arg : s.args)
        if (arg != ir::kNone) look_into(arg);
    if (declares(s.op)) declared_[s.local] = true;
    for (const ir::BlockId block : {s.body, s.otherwise}) {
        if (block == ir::kNone) continue;
        for (const ir::StmtId inner : code_.blocks[block]) look_at(inner);
    }
}

// Uses a list, not recursion, because chains of lets may be long.
void SegmentUses::look_into(ir::ExprId root) {
    std::vector<ir::ExprId> open = {root};
    while (!open.empty()) {
        const ir::Expr& e = code_.exprs[open.back()];
        open.pop_back();
        for (const ir::ExprId operand : code_.operands_of(e)) open.push_back(operand);
        if (!names_local(e.op)) continue;
        const auto local = static_cast<std::uint32_t>(e.extra);
        if (declared_[local] || needed_[local] || definitions_[local] == ir::kNone) continue;
        needed_[local] = true;
        const ir::Stmt& definition = code_.stmts[definitions_[local]];
        if (definition.op == Op::LET) open.push_back(definition.args[0]);
    }
}

std::vector<Segment> SegmentUses::segments() const {
    std::vector<Segment> out;
    add_segments(code_.root, out);
    return out;
}

void SegmentUses::add_segments(ir::BlockId block, std::vector<Segment>& out) const {
    const auto& statements = code_.blocks[block];
    std::uint32_t first = 0;
    for (std::uint32_t at = 0; at <= statements.size(); ++at) {
        const bool ends = at == statements.size();
        const bool loop = !ends && phase_loop_[statements[at]];
        if (!ends && !loop && code_.stmts[statements[at]].op != Op::GRID_BARRIER) continue;
        if (first != at) out.push_back({block, first, at});
        if (loop) add_segments(code_.stmts[statements[at]].body, out);
        first = at + 1;
    }
}

}  // namespace wye::plan
