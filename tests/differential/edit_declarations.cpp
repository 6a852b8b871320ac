// SPDX-License-Identifier: Apache-2.0
//
// Removes a declaration from a program: first all its uses, then the declaration itself. Later
// declarations get new numbers.
#include <algorithm>

#include "differential/edit.hpp"

namespace differential {

using namespace wye::ir;

namespace {

template <typename List>
void remove_at(List& list, std::size_t index) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(index));
}

void lower_above(std::uint16_t& number, std::size_t index) {
    if (number > index) --number;
}

// Removes all statements for which `gone` is true.
template <typename Gone>
void drop_statements(Code& code, Gone&& gone) {
    for (auto& block : code.blocks)
        std::erase_if(block, [&](StmtId s) { return gone(code.stmts[s]); });
}

// Among the operations that `uses` accepts, replaces uses of number `index` by zero, and lowers all
// higher numbers by 1.
template <typename Uses>
void drop_uses(Code& code, std::size_t index, Uses&& uses) {
    const std::size_t known = code.exprs.size();
    for (ExprId id = 0; id < known; ++id) {
        if (!uses(code.exprs[id].op)) continue;
        if (code.exprs[id].imm == index && !code.exprs[id].type.none())
            make_constant(code, id, false);
        else
            lower_above(code.exprs[id].imm, index);
    }
}

bool of_buffer(Op op) {
    return op == Op::LOAD || op == Op::LEN || op == Op::LEN64 || op_atomic(op) ||
           op == Op::WORKGROUP_UNIFORM_LOAD;
}

// Visits all size expressions of the program: of buffers with a computed size, and of the grid.
template <typename Function>
void each_size(Program& program, Function&& function) {
    for (Buffer& b : program.buffers) function(b.size);
    for (SizeExpr& axis : program.grid.axes) function(axis);
}

// Gives new numbers to size expressions. False: one of them uses the declaration.
bool drop_from_sizes(Program& program, unsigned op, std::size_t index) {
    bool named = false;
    each_size(program, [&](const SizeExpr& size) {
        for (const SizeNode& node : size) named |= node.op == op && node.index == index;
    });
    if (named) return false;
    each_size(program, [&](SizeExpr& size) {
        for (SizeNode& node : size)
            if (node.op == op) lower_above(node.index, index);
    });
    return true;
}

}  // namespace

bool drop_function(Program& program, std::size_t index) {
    for (Code* code : codes(program)) drop_uses(*code, index, [](Op op) { return op == Op::CALL; });
    remove_at(program.functions, index);
    return true;
}

bool drop_param(Program& program, std::size_t index) {
    if (!drop_from_sizes(program, WYE_SIZE_PARAM, index)) return false;
    for (Code* code : codes(program))
        drop_uses(*code, index, [](Op op) { return op == Op::PARAM; });
    remove_at(program.params, index);
    return true;
}

bool drop_table(Program& program, std::size_t index) {
    for (Code* code : codes(program))
        drop_uses(*code, index, [](Op op) {
            return op == Op::LOAD_TABLE || op == Op::LEN_TABLE || op == Op::LEN64_TABLE;
        });
    remove_at(program.tables, index);
    return true;
}

bool drop_buffer(Program& program, std::size_t index) {
    if (!drop_from_sizes(program, WYE_SIZE_LEN, index)) return false;
    for (Code* code : codes(program)) {
        drop_statements(*code, [&](const Stmt& s) {
            if (s.op == Op::STORE) return s.imm == index;
            if (s.op != Op::EFFECT) return false;
            const Expr& effect = code->exprs[s.args[0]];
            return of_buffer(effect.op) && effect.imm == index;
        });
        drop_uses(*code, index, of_buffer);
        for (Stmt& s : code->stmts)
            if (s.op == Op::STORE) lower_above(s.imm, index);
    }
    remove_at(program.buffers, index);
    return true;
}

}  // namespace differential
