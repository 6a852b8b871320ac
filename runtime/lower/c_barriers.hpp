// SPDX-License-Identifier: Apache-2.0
//
// Where main needs barriers beyond its own. In PoCL 3.1 a branch that only some invocations take
// may follow the first invocation for all, when it touches a path that the workgroup may choose
// around a barrier. So such a choice (an `if` or a loop with barriers inside, an `if` through which
// the workgroup leaves together) stands between barriers, and its sides end with one.
// A workgroup of two is no loop there, but every region between barriers twice; the process ends
// where such a region begins with the first block of a loop. So the rounds of a loop with barriers
// begin with one.
// Pure; a value.
#pragma once

#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::lower {

class BarrierPlan {
  public:
    // Plans nothing: dialects without the trouble.
    BarrierPlan() = default;
    // `starts` says that main begins with a barrier (the zero fill), `guarded` that all of main may
    // be passed by (a folded grid), `pair` that two invocations are a workgroup.
    BarrierPlan(const ir::Code& main, bool starts, bool guarded, bool pair);

    // A barrier belongs at the end of this block: of an `if`'s side or a loop's body.
    [[nodiscard]] bool closes(ir::BlockId block) const {
        return !closes_.empty() && closes_[block];
    }
    [[nodiscard]] bool closes_main() const { return closes_main_; }
    // A barrier belongs at the start of this loop's rounds, before a condition.
    [[nodiscard]] bool opens_rounds(ir::StmtId loop) const {
        return !rounds_.empty() && rounds_[loop];
    }
    // A return or trap that the whole workgroup takes together: it needs no closing barrier.
    [[nodiscard]] bool together(ir::StmtId leaving) const {
        return !together_.empty() && together_[leaving];
    }
    // A barrier belongs right before, and right after, this statement.
    [[nodiscard]] bool closes_before(ir::StmtId statement) const {
        return !before_.empty() && before_[statement];
    }
    [[nodiscard]] bool opens_after(ir::StmtId statement) const {
        return !after_.empty() && after_[statement];
    }
    // Some barrier of the program's own is inside.
    [[nodiscard]] bool holds(ir::BlockId block) const { return !holds_.empty() && holds_[block]; }
    // Both sides of this `if` hold barriers: their ends must differ, or a compiler merges them.
    [[nodiscard]] bool both_hold(const ir::Stmt& s) const {
        return !holds_.empty() && s.otherwise != ir::kNone && holds_[s.body] && holds_[s.otherwise];
    }

  private:
    void number(const ir::Code& main, ir::BlockId block);
    // A loop that the workgroup may leave together by a return gets barriers at it: it holds some.
    // True: such a loop is inside.
    bool hold_returns(const ir::Code& main, ir::BlockId block, bool in_loop, bool in_any_loop);
    // The innermost loop around, and any loop around, holds a barrier.
    // True: the workgroup may leave the block together.
    bool plan(const ir::Code& main, ir::BlockId block, bool in_loop, bool in_any_loop);

    std::vector<std::uint32_t> order_;  // by StmtId, in text order
    std::vector<bool> holds_;           // by BlockId: barriers inside, also of the plan
    std::vector<bool> closes_, together_, before_, after_, rounds_;
    std::uint32_t next_ = 1;
    std::uint32_t first_ = 0xffffffffU, last_ = 0;  // barriers, in text order
    bool closes_main_ = false;
    bool pair_ = false;
};

// The invocations of a workgroup meet somewhere.
[[nodiscard]] bool joins_workgroup(const ir::Program& program);

}  // namespace wye::lower
