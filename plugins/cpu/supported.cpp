// SPDX-License-Identifier: Apache-2.0
//
// What this version of the plugin does not run: f16 and bf16, math functions, subgroups, the grid
// barrier. Refused with the construct's name before anything is compiled.
#include <algorithm>
#include <span>

#include "compiler.hpp"

namespace wye::cpu {
namespace {

using ir::Op;

bool half(ir::Type type) { return type.kind == ir::Kind::F16 || type.kind == ir::Kind::BF16; }

std::string in_code(const ir::Code& code) {
    for (const ir::Expr& e : code.exprs) {
        if (ir::op_math(e.op) || ir::op_subgroup(e.op))
            return "`" + std::string(ir::op_text(e.op)) + "`";
        if (e.op == Op::BUILTIN && e.imm >= WYE_BUILTIN_SUBGROUP_SIZE) return "subgroup values";
        if (half(e.type)) return ir::type_name(e.type) + " values";
    }
    for (const ir::Local& local : code.locals)
        if (half(local.type)) return ir::type_name(local.type) + " values";
    for (const ir::Stmt& s : code.stmts)
        if (s.op == Op::GRID_BARRIER) return "`grid_barrier`";
    return {};
}

std::string refused(const ir::Program& program) {
    for (const ir::Buffer& buffer : program.buffers)
        if (half(buffer.type))
            return ir::type_name(buffer.type) + " elements of `" + buffer.name + "`";
    for (const ir::Table& table : program.tables)
        if (half(table.type))
            return ir::type_name(table.type) + " elements of `" + table.name + "`";
    if (program.subgroup != 0) return "a demanded subgroup size";
    for (const ir::Function& function : program.functions)
        if (std::string found = in_code(function.code); !found.empty()) return found;
    return in_code(program.main);
}

}  // namespace

Result<void> supported(const ir::Program& program) {
    const std::string construct = refused(program);
    if (construct.empty()) return {};
    return Error(wye::Code::UNSUPPORTED, "the cpu plugin does not run " + construct + " yet",
                 "Fix: write the program without it, or use another device", program.name);
}

bool needs_group(const ir::Program& program) {
    return std::any_of(program.buffers.begin(), program.buffers.end(),
                       [](const ir::Buffer& b) { return b.shared(); }) ||
           std::any_of(program.main.stmts.begin(), program.main.stmts.end(),
                       [](const ir::Stmt& s) { return s.op == Op::BARRIER; });
}

}  // namespace wye::cpu
