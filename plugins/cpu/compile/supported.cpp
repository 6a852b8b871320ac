// SPDX-License-Identifier: Apache-2.0
//
// Refuses, by name and before anything is compiled, the constructs that this plugin does not run:
// math functions and the grid barrier. The host replaces both.
#include <algorithm>
#include <span>

#include "cpu/compile/compiler.hpp"

namespace wye::cpu {
namespace {

using ir::Op;

std::string in_code(const ir::Code& code) {
    for (const ir::Expr& e : code.exprs)
        if (ir::op_math(e.op)) return "`" + std::string(ir::op_text(e.op)) + "`";
    for (const ir::Stmt& s : code.stmts)
        if (s.op == Op::GRID_BARRIER) return "`grid_barrier`";
    return {};
}

std::string refused(const ir::Program& program) {
    for (const ir::Function& function : program.functions)
        if (std::string found = in_code(function.code); !found.empty()) return found;
    return in_code(program.main);
}

bool code_uses_subgroups(const ir::Code& code) {
    return std::any_of(code.exprs.begin(), code.exprs.end(), [](const ir::Expr& e) {
        return ir::op_subgroup(e.op) || (e.op == Op::BUILTIN && e.imm >= WYE_BUILTIN_SUBGROUP_SIZE);
    });
}

bool code_uses_floats(const ir::Code& code) {
    return std::any_of(code.exprs.begin(), code.exprs.end(),
                       [](const ir::Expr& e) { return e.type.floating(); });
}

}  // namespace

Result<void> supported(const ir::Program& program) {
    const std::string construct = refused(program);
    if (construct.empty()) return {};
    return Error(wye::Code::UNSUPPORTED, "the cpu plugin does not run " + construct + " yet",
                 "Fix: write the program without it, or use another device", program.name);
}

bool uses_subgroups(const ir::Program& program) {
    return code_uses_subgroups(program.main) ||
           std::any_of(program.functions.begin(), program.functions.end(),
                       [](const ir::Function& f) { return code_uses_subgroups(f.code); });
}

bool uses_floats(const ir::Program& program) {
    return code_uses_floats(program.main) ||
           std::any_of(program.functions.begin(), program.functions.end(),
                       [](const ir::Function& f) { return code_uses_floats(f.code); });
}

bool needs_group(const ir::Program& program) {
    return uses_subgroups(program) ||
           std::any_of(program.buffers.begin(), program.buffers.end(),
                       [](const ir::Buffer& b) { return b.shared(); }) ||
           std::any_of(program.main.stmts.begin(), program.main.stmts.end(),
                       [](const ir::Stmt& s) { return s.op == Op::BARRIER; });
}

}  // namespace wye::cpu
