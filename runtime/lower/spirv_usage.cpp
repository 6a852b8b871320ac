// SPDX-License-Identifier: Apache-2.0
#include "lower/spirv_usage.hpp"

namespace wye::lower {
namespace {

using ir::Op;

// One pass over main or a function.
class Scan {
  public:
    Scan(SpirvUsage& usage, const ir::Program& program, const ir::Code& code,
         const CodeRanges& ranges)
        : usage_(usage), program_(program), code_(code), ranges_(ranges) {}

    void run() {
        for (ir::ExprId id = 0; id < code_.exprs.size(); ++id) expression(id);
        block(code_.root, false);
    }

  private:
    void compared(std::uint32_t buffer) {
        const bool fixed = program_.buffers[buffer].count_kind == ir::Buffer::Count::Literal;
        if (!fixed) usage_.buffers[buffer].length = true;
    }
    void expression(ir::ExprId id);
    void block(ir::BlockId id, bool loop);

    SpirvUsage& usage_;
    const ir::Program& program_;
    const ir::Code& code_;
    const CodeRanges& ranges_;
};

void Scan::expression(ir::ExprId id) {
    const ir::Expr& e = code_.exprs[id];
    switch (e.op) {
        case Op::LEN:
        case Op::LEN64:
            return compared(e.imm);
        case Op::CALL:
            usage_.functions[e.imm] = true;
            return;
        case Op::ADD:
        case Op::SUB:
        case Op::MUL:
        case Op::DIV:
        case Op::SQRT:
        case Op::FMA:
            if (e.type.floating()) usage_.arithmetic = true;
            return;
        case Op::CONVERT:
            if (e.type.kind == ir::Kind::F16) usage_.arithmetic = true;
            return;
        case Op::SUBGROUP_ADD:
        case Op::SUBGROUP_INCLUSIVE_ADD:
        case Op::SUBGROUP_EXCLUSIVE_ADD:
            if (e.type.floating()) usage_.arithmetic = true;
            return;
        case Op::WORKGROUP_UNIFORM_LOAD:
            usage_.barrier = true;
            [[fallthrough]];
        case Op::LOAD:
            usage_.buffers[e.imm].loaded = true;
            break;
        default:
            if (!ir::op_atomic(e.op)) return;
            usage_.buffers[e.imm].atomic = true;
            if (program_.buffers[e.imm].type.floating()) {
                usage_.buffers[e.imm].float_atomic = true;
                usage_.arithmetic = true;
            }
            break;
    }
    usage_.buffers[e.imm].touched = true;
    if (!ranges_.accesses[id]) compared(e.imm);
}

void Scan::block(ir::BlockId id, bool loop) {
    if (id == ir::kNone) return;
    for (const ir::StmtId each : code_.blocks[id]) {
        const ir::Stmt& s = code_.stmts[each];
        const bool around = loop || s.op == Op::FOR || s.op == Op::WHILE;
        if (s.op == Op::BARRIER) usage_.barrier = true;
        if (s.op == Op::TRAP) usage_.trap = true;
        if (s.op == Op::STORE) {
            SpirvUsage::Buffer& b = usage_.buffers[s.imm];
            b.touched = b.stored = true;
            ++b.stores;
            b.repeated = b.repeated || loop;
            if (!ranges_.stores[each]) compared(s.imm);
        }
        block(s.body, around);
        block(s.otherwise, around);
    }
}

}  // namespace

SpirvUsage::SpirvUsage(const ir::Program& program, const Ranges& ranges)
    : buffers(program.buffers.size()), functions(program.functions.size()) {
    Scan(*this, program, program.main, ranges.of(ir::kNone)).run();
    for (std::uint32_t f = static_cast<std::uint32_t>(functions.size()); f-- > 0;)
        if (functions[f]) Scan(*this, program, program.functions[f].code, ranges.of(f)).run();
}

}  // namespace wye::lower
