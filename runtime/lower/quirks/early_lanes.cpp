// SPDX-License-Identifier: Apache-2.0
#include "lower/quirks/early_lanes.hpp"

#include <algorithm>

#include "program/check/validate.hpp"

namespace wye::lower {
namespace {

using ir::Op;

constexpr std::uint8_t kSubgroup = 2;  // the highest level that is uniform in a subgroup

bool has_atomic(const ir::Code& code, const ir::Stmt& s) {
    return std::ranges::any_of(s.args, [&](ir::ExprId arg) {
        return arg != ir::kNone && ir::op_atomic(code.exprs[arg].op);
    });
}

// Returns, by statement, the enclosing statement, or kNone at the top level.
std::vector<ir::StmtId> parents(const ir::Code& code) {
    std::vector<ir::StmtId> out(code.stmts.size(), ir::kNone);
    for (ir::StmtId id = 0; id < code.stmts.size(); ++id)
        for (const ir::BlockId block : {code.stmts[id].body, code.stmts[id].otherwise})
            if (block != ir::kNone)
                for (const ir::StmtId inner : code.blocks[block]) out[inner] = id;
    return out;
}

}  // namespace

bool spins_in_shared(Op op, ir::Kind kind) {
    switch (op) {
        case Op::ATOMIC_ADD:
            return ir::Type{kind, 1}.floating() || ir::Type{kind, 1}.bits() == 64;
        case Op::ATOMIC_MIN:
        case Op::ATOMIC_MAX:
        case Op::ATOMIC_AND:
        case Op::ATOMIC_OR:
        case Op::ATOMIC_XOR:
            return ir::Type{kind, 1}.bits() == 64;
        default:
            return false;
    }
}

EarlyLanes::EarlyLanes(const ir::Program& program) {
    const ir::Code& code = program.main;
    if (std::ranges::none_of(code.exprs, [](const ir::Expr& e) { return ir::op_subgroup(e.op); }))
        return;
    const ir::Uniformity levels = ir::uniformity(program);
    const std::vector<ir::StmtId> around = parents(code);
    for (ir::StmtId id = 0; id < code.stmts.size(); ++id) {
        if (levels.stmts[id] <= kSubgroup || !has_atomic(code, code.stmts[id])) continue;
        // `outermost`: the innermost statement around the atomic that the subgroup enters as a
        // whole. So it is the outermost one in which lanes take different paths.
        ir::StmtId outermost = ir::kNone;
        bool in_loop = false;
        for (ir::StmtId outer = around[id]; outer != ir::kNone; outer = around[outer]) {
            const Op op = code.stmts[outer].op;
            in_loop = in_loop || op == Op::FOR || op == Op::WHILE;
            if (outermost == ir::kNone && levels.stmts[outer] <= kSubgroup) outermost = outer;
        }
        if (!in_loop || outermost == ir::kNone) continue;
        found_.resize(code.stmts.size());
        found_[outermost] = true;
    }
}

}  // namespace wye::lower
