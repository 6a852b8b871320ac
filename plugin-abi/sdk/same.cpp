// SPDX-License-Identifier: Apache-2.0
//
// same_program: compares programs, whatever the order in which their nodes were made.
#include <utility>

#include "wye/sdk/program.hpp"

namespace wye::ir {

namespace {

bool same_expression(const Code& a, ExprId root_a, const Code& b, ExprId root_b) {
    std::vector<std::pair<ExprId, ExprId>> open{{root_a, root_b}};
    while (!open.empty()) {
        const auto [ia, ib] = open.back();
        open.pop_back();
        if (ia == kNone || ib == kNone) {
            if (ia != ib) return false;
            continue;
        }
        const Expr& x = a.exprs[ia];
        const Expr& y = b.exprs[ib];
        if (x.op != y.op || x.imm != y.imm || x.extra != y.extra || x.count != y.count)
            return false;
        for (std::uint32_t i = 0; i < x.count; ++i)
            open.emplace_back(a.operands[x.first + i], b.operands[y.first + i]);
    }
    return true;
}

bool same_blocks(const Code& a, const Code& b) {
    std::vector<std::pair<BlockId, BlockId>> open{{a.root, b.root}};
    while (!open.empty()) {
        const auto [ba, bb] = open.back();
        open.pop_back();
        if (ba == kNone || bb == kNone) {
            if (ba != bb) return false;
            continue;
        }
        const auto& left = a.blocks[ba];
        const auto& right = b.blocks[bb];
        if (left.size() != right.size()) return false;
        for (std::size_t i = 0; i < left.size(); ++i) {
            const Stmt& x = a.stmts[left[i]];
            const Stmt& y = b.stmts[right[i]];
            if (x.op != y.op || x.imm != y.imm || x.local != y.local) return false;
            for (std::size_t k = 0; k < x.args.size(); ++k)
                if (!same_expression(a, x.args[k], b, y.args[k])) return false;
            open.emplace_back(x.body, y.body);
            open.emplace_back(x.otherwise, y.otherwise);
        }
    }
    return true;
}

bool same_code(const Code& a, const Code& b) {
    if (a.locals.size() != b.locals.size()) return false;
    for (std::size_t i = 0; i < a.locals.size(); ++i)
        if (a.locals[i].form != b.locals[i].form || a.locals[i].count != b.locals[i].count)
            return false;
    return same_blocks(a, b) && same_expression(a, a.result, b, b.result);
}

template <typename T, typename Same>
bool same_list(const std::vector<T>& a, const std::vector<T>& b, Same same) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!same(a[i], b[i])) return false;
    return true;
}

bool same_buffer(const Buffer& a, const Buffer& b) {
    return a.name == b.name && a.binding == b.binding && a.role == b.role && a.type == b.type &&
           a.live == b.live && a.unset == b.unset && a.align == b.align && a.bytes == b.bytes &&
           a.hints == b.hints && a.count_kind == b.count_kind && a.count == b.count &&
           a.size == b.size;
}

bool same_function(const Function& a, const Function& b) {
    if (a.name != b.name || a.type != b.type || a.arguments != b.arguments) return false;
    if (!same_code(a.code, b.code)) return false;
    for (std::uint32_t i = 0; i < a.arguments; ++i)
        if (a.code.locals[i].type != b.code.locals[i].type) return false;
    return true;
}

}  // namespace

bool same_program(const Program& a, const Program& b) {
    return a.name == b.name && a.workgroup == b.workgroup && a.subgroup == b.subgroup &&
           a.adjustable == b.adjustable && a.math_set == b.math_set && a.grid.kind == b.grid.kind &&
           a.grid.axes == b.grid.axes &&
           same_list(a.params, b.params,
                     [](const Param& x, const Param& y) {
                         return x.name == y.name && x.type == y.type;
                     }) &&
           same_list(a.buffers, b.buffers, same_buffer) &&
           same_list(a.tables, b.tables,
                     [](const Table& x, const Table& y) {
                         return x.name == y.name && x.type == y.type && x.bits == y.bits;
                     }) &&
           same_list(a.functions, b.functions, same_function) && same_code(a.main, b.main) &&
           same_list(a.variants, b.variants, [](const Variant& x, const Variant& y) {
               return x.format == y.format && x.entry == y.entry && x.filter == y.filter &&
                      x.bytes == y.bytes && x.file == y.file;
           });
}

}  // namespace wye::ir
