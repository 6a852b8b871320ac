// SPDX-License-Identifier: Apache-2.0
#include "lower/analysis/loop_lengths.hpp"

#include <algorithm>

namespace wye::lower {
namespace {

using ir::Op;

// The maximum number of expression nodes in the body of a loop that is written twice.
constexpr std::size_t kMostDoubledNodes = 192;

class Search {
  public:
    Search(const ir::Program& program, const ir::Code& code, const CodeRanges& ranges,
           std::uint32_t counter)
        : program_(program), code_(code), ranges_(ranges), counter_(counter) {}

    // Collects the accesses of a block. Returns false if the loop must not be written twice.
    bool block(ir::BlockId id) {
        if (id == ir::kNone) return true;
        for (const ir::StmtId each : code_.blocks[id]) {
            const ir::Stmt& s = code_.stmts[each];
            switch (s.op) {
                case Op::LET:
                case Op::VAR:
                case Op::VAR_ZERO:
                case Op::ASSIGN:
                case Op::ASSIGN_COMPONENT:
                case Op::STORE_ARRAY:
                case Op::EFFECT:
                case Op::BREAK:
                case Op::CONTINUE:
                case Op::RETURN:
                case Op::TRAP:
                case Op::IF:
                    break;
                case Op::STORE:
                    store(each);
                    break;
                default:
                    return false;
            }
            for (const ir::ExprId argument : s.args)
                if (argument != ir::kNone && !expression(argument)) return false;
            if (!block(s.body) || !block(s.otherwise)) return false;
        }
        return true;
    }

    LoopLengths found;
    bool always_checked = false;  // whether the check-free form keeps the check of some access

  private:
    [[nodiscard]] bool at_counter(ir::ExprId index) const {
        const ir::Expr& e = code_.exprs[index];
        return e.op == Op::LOCAL && e.extra == counter_;
    }

    void store(ir::StmtId id) {
        const ir::Stmt& s = code_.stmts[id];
        if (ranges_.stores[id] || !at_counter(s.args[0])) return;
        found.buffers.insert(s.imm);
        found.stores.push_back(id);
        always_checked = always_checked || ranges_.always_checked_stores[id];
    }

    bool expression(ir::ExprId id) {
        const ir::Expr& e = code_.exprs[id];
        ++nodes_;
        if (e.op == Op::CALL) nodes_ += program_.functions[e.imm].code.exprs.size();
        if (nodes_ > kMostDoubledNodes || (ir::op_effect(e.op) && !ir::op_atomic(e.op)))
            return false;
        const auto ids = code_.operands_of(e);
        const bool table = e.op == Op::LOAD_TABLE;
        if ((table || e.op == Op::LOAD || ir::op_atomic(e.op)) && !ranges_.accesses[id] &&
            at_counter(ids[0])) {
            (table ? found.tables : found.buffers).insert(e.imm);
            found.accesses.push_back(id);
            always_checked = always_checked || ranges_.always_checked_accesses[id];
        }
        for (const ir::ExprId operand : ids)
            if (!expression(operand)) return false;
        return true;
    }

    const ir::Program& program_;
    const ir::Code& code_;
    const CodeRanges& ranges_;
    const std::uint32_t counter_;
    std::size_t nodes_ = 0;
};

}  // namespace

DataLoops::DataLoops(const ir::Program& program, const ir::Code& code)
    : program_(program), code_(code), locals_(code.locals.size()) {
    for (const ir::Stmt& s : code.stmts)  // in text order, since a let precedes its uses
        if (s.op == Op::LET) locals_[s.local] = from_data(s.args[0]);
}

bool DataLoops::from_data(ir::ExprId id) const {
    const ir::Expr& e = code_.exprs[id];
    if (e.op == Op::LOAD || ir::op_effect(e.op)) return true;
    if (e.op == Op::LOCAL) return locals_[static_cast<std::uint32_t>(e.extra)];
    return std::ranges::any_of(code_.operands_of(e),
                               [&](ir::ExprId operand) { return from_data(operand); });
}

LoopLengths DataLoops::lengths(const CodeRanges& ranges, const ir::Stmt& loop) const {
    Search search(program_, code_, ranges, loop.local);
    if (code_.exprs[loop.args[1]].op == Op::LITERAL || !search.block(loop.body)) return {};
    if (!search.always_checked && !from_data(loop.args[1])) return {};
    return search.found;
}

void set_in_range(CodeRanges& ranges, const LoopLengths& lengths, bool in_range) {
    for (const ir::ExprId id : lengths.accesses) ranges.accesses[id] = in_range;
    for (const ir::StmtId id : lengths.stores) ranges.stores[id] = in_range;
}

}  // namespace wye::lower
