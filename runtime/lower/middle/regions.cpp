// SPDX-License-Identifier: Apache-2.0
#include "lower/middle/regions.hpp"

#include <algorithm>

#include "lower/analysis/barrier_data.hpp"
#include "wye/program_format.h"

namespace wye::lower::middle {
namespace {

using ir::Op;

// The region number of locals that all invocations of the workgroup share.
constexpr std::uint32_t kEverywhere = 0xffffffffU;
constexpr unsigned kMostAgainNodes = 16;  // maximum size of a let that is computed again

bool loops(const ir::Stmt& s) { return s.op == Op::FOR || s.op == Op::WHILE; }

bool loads_together(const ir::Code& main, const ir::Stmt& s) {
    return std::ranges::any_of(s.args, [&](ir::ExprId e) {
        return e != ir::kNone && main.exprs[e].op == Op::WORKGROUP_UNIFORM_LOAD;
    });
}

}  // namespace

Regions::Regions(const ir::Code& main)
    : parts_(main.stmts.size(), Part::Inside),
      order_(main.stmts.size()),
      first_(main.locals.size()),
      kept_(main.locals.size()),
      lets_(main.locals.size()) {
    number(main, main.root);
    find_returns(main, main.root, false);
    find_jumps(main, main.root, false);
    locals(main, main.root);
}

void Regions::number(const ir::Code& main, ir::BlockId block) {
    for (const ir::StmtId id : main.blocks[block]) {
        const ir::Stmt& s = main.stmts[id];
        order_[id] = next_++;
        if (s.op == Op::BARRIER) parts_[id] = Part::Together;
        if (loads_together(main, s)) parts_[id] = s.op == Op::LET ? Part::Together : Part::Alone;
        if (parts_[id] != Part::Inside) last_barrier_ = order_[id];
        for (const ir::BlockId inner : {s.body, s.otherwise}) {
            if (inner == ir::kNone) continue;
            number(main, inner);
            if (holds_barrier(main, inner)) parts_[id] = Part::Together;
        }
    }
}

// The language rejects barriers that some invocations do not reach (LANGUAGE.md, "Uniformity"). So
// a return before a barrier, or in a loop with one, is taken by the whole workgroup.
bool Regions::find_returns(const ir::Code& main, ir::BlockId block, bool in_barrier_loop) {
    bool found = false;
    for (const ir::StmtId id : main.blocks[block]) {
        const ir::Stmt& s = main.stmts[id];
        if ((s.op == Op::RETURN || s.op == Op::TRAP) &&
            (in_barrier_loop || order_[id] < last_barrier_))
            parts_[id] = Part::Together;
        const bool barrier_loop = loops(s) && parts_[id] == Part::Together;
        for (const ir::BlockId inner : {s.body, s.otherwise})
            if (inner != ir::kNone && find_returns(main, inner, in_barrier_loop || barrier_loop))
                parts_[id] = Part::Together;
        found = found || parts_[id] == Part::Together;
    }
    return found;
}

// Finds the jumps out of loops that the workgroup runs together. The whole workgroup takes such a
// jump.
bool Regions::find_jumps(const ir::Code& main, ir::BlockId block, bool loop_together) {
    bool found = false;
    for (const ir::StmtId id : main.blocks[block]) {
        const ir::Stmt& s = main.stmts[id];
        bool jumps = loop_together && (s.op == Op::BREAK || s.op == Op::CONTINUE);
        for (const ir::BlockId inner : {s.body, s.otherwise}) {
            if (inner == ir::kNone) continue;
            const bool inside =
                find_jumps(main, inner, loops(s) ? parts_[id] == Part::Together : loop_together);
            jumps = jumps || (inside && !loops(s));
        }
        if (jumps) parts_[id] = Part::Together;
        found = found || jumps;
    }
    return found;
}

// Numbers the regions in the order in which they are written, and finds the locals that several
// regions use.
void Regions::locals(const ir::Code& main, ir::BlockId block) {
    for (const ir::StmtId id : main.blocks[block]) {
        const ir::Stmt& s = main.stmts[id];
        if (parts_[id] == Part::Inside) {
            unsigned nodes = 0;
            if (s.op == Op::LET) lets_[s.local] = {form_of(main, s.args[0], nodes), id};
            whole_statement(main, s);
            continue;
        }
        ++region_;
        if (s.op == Op::FOR || s.op == Op::LET) first_[s.local] = kEverywhere;
        own_parts(main, s);
        ++region_;
        for (const ir::BlockId inner : {s.body, s.otherwise}) {
            if (inner == ir::kNone) continue;
            locals(main, inner);
            ++region_;
        }
    }
}

// Returns how a let depends on ids and parameters. Expressions are pure and total, so they may be
// computed again anywhere.
Regions::Form Regions::form_of(const ir::Code& main, ir::ExprId id, unsigned& nodes) const {
    const ir::Expr& e = main.exprs[id];
    const auto local = static_cast<std::uint32_t>(e.extra);
    if (++nodes > kMostAgainNodes || ir::op_effect(e.op)) return Form::Stored;
    switch (e.op) {
        case Op::BUILTIN:
            return e.imm == WYE_BUILTIN_LOCAL_ID || e.imm == WYE_BUILTIN_GLOBAL_ID ||
                           e.imm == WYE_BUILTIN_LOCAL_INDEX
                       ? Form::Again
                       : Form::Uniform;
        case Op::LOCAL:
            return first_[local] == kEverywhere ? Form::Uniform : lets_[local].form;
        case Op::CALL:
        case Op::LOAD:
        case Op::LOAD_TABLE:
        case Op::LOAD_ARRAY:
            return Form::Stored;
        default:
            break;
    }
    Form form = Form::Uniform;
    for (const ir::ExprId operand : main.operands_of(e)) {
        const Form inner = form_of(main, operand, nodes);
        if (inner == Form::Stored) return inner;
        if (inner == Form::Again) form = inner;
    }
    return form;
}

void Regions::whole_statement(const ir::Code& main, const ir::Stmt& s) {
    own_parts(main, s);
    for (const ir::BlockId inner : {s.body, s.otherwise})
        if (inner != ir::kNone)
            for (const ir::StmtId each : main.blocks[inner])
                whole_statement(main, main.stmts[each]);
}

void Regions::own_parts(const ir::Code& main, const ir::Stmt& s) {
    if (s.local != ir::kNone) touch(s.local);
    for (const ir::ExprId e : s.args)
        if (e != ir::kNone) expression(main, e);
}

void Regions::expression(const ir::Code& main, ir::ExprId id) {
    const ir::Expr& e = main.exprs[id];
    if (e.op == Op::LOCAL || e.op == Op::LOAD_ARRAY) touch(static_cast<std::uint32_t>(e.extra));
    for (const ir::ExprId operand : main.operands_of(e)) expression(main, operand);
}

void Regions::touch(std::uint32_t local) {
    std::uint32_t& first = first_[local];
    if (first == 0) first = region_;
    if (lets_[local].form != Form::Stored) return;
    if (first != kEverywhere && first != region_) kept_[local] = true;
}

}  // namespace wye::lower::middle
