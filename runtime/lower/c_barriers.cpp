// SPDX-License-Identifier: Apache-2.0
#include "lower/c_barriers.hpp"

#include <algorithm>

namespace wye::lower {
namespace {

using ir::Op;

bool leaving(Op op) {
    return op == Op::BREAK || op == Op::CONTINUE || op == Op::RETURN || op == Op::TRAP;
}

bool is_barrier(const ir::Code& main, const ir::Stmt& s) {
    if (s.op == Op::BARRIER) return true;
    return std::any_of(s.args.begin(), s.args.end(), [&](ir::ExprId e) {
        return e != ir::kNone && main.exprs[e].op == Op::WORKGROUP_UNIFORM_LOAD;
    });
}

}  // namespace

BarrierPlan::BarrierPlan(const ir::Code& main, bool starts, bool guarded, bool pair)
    : order_(main.stmts.size()),
      holds_(main.blocks.size()),
      closes_(main.blocks.size()),
      together_(main.stmts.size()),
      before_(main.stmts.size()),
      after_(main.stmts.size()),
      rounds_(main.stmts.size()),
      pair_(pair) {
    number(main, main.root);
    if (!starts && !holds_[main.root]) return;
    if (starts) first_ = 0;
    closes_main_ = guarded;
    hold_returns(main, main.root, false, false);
    plan(main, main.root, false, false);
}

void BarrierPlan::number(const ir::Code& main, ir::BlockId block) {
    for (const ir::StmtId id : main.blocks[block]) {
        const ir::Stmt& s = main.stmts[id];
        order_[id] = next_++;
        if (is_barrier(main, s)) {
            first_ = std::min(first_, order_[id]);
            last_ = order_[id];
            holds_[block] = true;
        }
        for (const ir::BlockId inner : {s.body, s.otherwise}) {
            if (inner == ir::kNone) continue;
            number(main, inner);
            if (holds_[inner]) holds_[block] = true;
        }
    }
}

bool BarrierPlan::hold_returns(const ir::Code& main, ir::BlockId block, bool in_loop,
                               bool in_any_loop) {
    bool found = false;
    for (const ir::StmtId id : main.blocks[block]) {
        const ir::Stmt& s = main.stmts[id];
        const bool loop = s.op == Op::FOR || s.op == Op::WHILE;
        if (s.op == Op::RETURN || s.op == Op::TRAP)
            found = found || (in_loop && (in_any_loop || order_[id] < last_));
        for (const ir::BlockId inner : {s.body, s.otherwise})
            if (inner != ir::kNone &&
                hold_returns(main, inner, in_loop || loop, in_any_loop || (loop && holds_[inner])))
                found = true;
    }
    if (found) holds_[block] = true;
    return found;
}

// Uniformity makes it certain: what stands before a barrier, or in a loop with one, is left by the
// whole workgroup together.
bool BarrierPlan::plan(const ir::Code& main, ir::BlockId block, bool in_loop, bool in_any_loop) {
    bool left = false;
    bool after_barrier = false;
    const auto& statements = main.blocks[block];
    for (std::size_t i = 0; i < statements.size(); ++i) {
        const ir::StmtId id = statements[i];
        const ir::Stmt& s = main.stmts[id];
        const bool followed =
            i + 1 < statements.size() && main.stmts[statements[i + 1]].op != Op::BARRIER;
        const bool loop = s.op == Op::FOR || s.op == Op::WHILE;
        rounds_[id] = pair_ && loop && holds_[s.body];
        if (s.op == Op::BREAK || s.op == Op::CONTINUE) left = left || in_loop;
        if ((s.op == Op::RETURN || s.op == Op::TRAP) && (in_any_loop || order_[id] < last_)) {
            together_[id] = true;
            closes_main_ = true;
            left = true;
        }
        bool left_inside = false;
        for (const ir::BlockId inner : {s.body, s.otherwise}) {
            if (inner == ir::kNone) continue;
            const bool inside = plan(main, inner, loop ? static_cast<bool>(holds_[inner]) : in_loop,
                                     in_any_loop || (loop && holds_[inner]));
            left_inside = left_inside || inside;
            if (!holds_[inner]) continue;
            after_[id] = followed;
            const ir::Stmt& last = main.stmts[main.blocks[inner].back()];
            closes_[inner] = last.op != Op::BARRIER && !leaving(last.op);
        }
        if (left_inside && s.op == Op::IF) {
            before_[id] = !after_barrier && (in_any_loop || order_[id] > first_);
            after_[id] = followed;
            left = true;
        }
        after_barrier = s.op == Op::BARRIER;
    }
    return left;
}

bool joins_workgroup(const ir::Program& program) {
    const auto& buffers = program.buffers;
    const auto& stmts = program.main.stmts;
    return std::any_of(buffers.begin(), buffers.end(),
                       [](const ir::Buffer& buffer) { return buffer.shared(); }) ||
           std::any_of(stmts.begin(), stmts.end(), [](const ir::Stmt& s) {
               return s.op == Op::BARRIER || s.op == Op::GRID_BARRIER;
           });
}

}  // namespace wye::lower
