// SPDX-License-Identifier: Apache-2.0
#include "lower/spirv/usage.hpp"

#include "lower/analysis/barrier_data.hpp"

namespace wye::lower {
namespace {

using ir::Op;

// Whether the writer may have to hide integers of this operation from the driver, for some quirk.
// True also of f64 operations whose emulations contain such integer operations.
bool disguises(const ir::Code& code, const ir::Expr& e) {
    switch (e.op) {
        case Op::ABS:
        case Op::POPCOUNT:
            return true;
        case Op::DIV:
        case Op::REM:
            return e.type.integer() || e.type.kind == ir::Kind::F64;
        case Op::ADD:
        case Op::SUB:
        case Op::MUL:
        case Op::FMA:
        case Op::SQRT:
            return e.type.kind == ir::Kind::F64;
        case Op::CONVERT:
            return e.type.kind == ir::Kind::F64 ||
                   (e.type.kind == ir::Kind::F32 &&
                    code.exprs[code.operands_of(e)[0]].type.kind == ir::Kind::F64);
        case Op::EQ:
        case Op::NE:
        case Op::LT:
        case Op::LE:
        case Op::GT:
        case Op::GE:
        case Op::MIN:
        case Op::MAX:
        case Op::CLAMP:
        case Op::ADD_SAT:
        case Op::SUB_SAT:
            return code.exprs[code.operands_of(e)[0]].type.bits() == 64;
        default:
            return false;
    }
}

// Scans main or a function in one pass.
class UsageScan {
  public:
    UsageScan(SpirvUsage& usage, const ir::Program& program, const ir::Code& code,
              const CodeRanges& ranges)
        : usage_(usage), program_(program), code_(code), ranges_(ranges) {}

    void run() {
        for (ir::ExprId id = 0; id < code_.exprs.size(); ++id) expression(id);
        block(code_.root);
    }

  private:
    void compared(std::uint32_t buffer) {
        const bool fixed = program_.buffers[buffer].count_kind == ir::Buffer::Count::Literal;
        if (!fixed) usage_.buffers[buffer].length = true;
    }
    void expression(ir::ExprId id);
    void block(ir::BlockId id);

    SpirvUsage& usage_;
    const ir::Program& program_;
    const ir::Code& code_;
    const CodeRanges& ranges_;
};

void UsageScan::expression(ir::ExprId id) {
    const ir::Expr& e = code_.exprs[id];
    if (disguises(code_, e)) usage_.disguises = true;
    if (e.op == Op::POPCOUNT) usage_.counts = true;
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
        case Op::RSQRT:
        case Op::FMA:
            if (e.type.floating()) usage_.arithmetic = true;
            return;
        case Op::CONVERT:
            if (e.type.kind == ir::Kind::F16) usage_.arithmetic = true;
            [[fallthrough]];
        case Op::BITCAST:
            if (e.type.floating() && !code_.exprs[code_.operands_of(e)[0]].type.floating())
                usage_.floats_of_integers = true;
            return;
        case Op::SUBGROUP_ADD:
        case Op::SUBGROUP_INCLUSIVE_ADD:
        case Op::SUBGROUP_EXCLUSIVE_ADD:
            if (e.type.floating()) usage_.arithmetic = true;
            return;
        case Op::WORKGROUP_UNIFORM_LOAD:
        case Op::LOAD:
            usage_.buffers[e.imm].loaded = true;
            break;
        default:
            if (!ir::op_atomic(e.op)) return;
            usage_.buffers[e.imm].atomic = true;
            if (program_.buffers[e.imm].type.floating()) usage_.arithmetic = true;
            break;
    }
    usage_.buffers[e.imm].touched = true;
    if (!ranges_.accesses[id]) compared(e.imm);
}

void UsageScan::block(ir::BlockId id) {
    if (id == ir::kNone) return;
    for (const ir::StmtId each : code_.blocks[id]) {
        const ir::Stmt& s = code_.stmts[each];
        if (s.op == Op::FOR && code_.locals[s.local].type.bits() == 64) usage_.disguises = true;
        if (s.op == Op::TRAP) usage_.trap = true;
        if (s.op == Op::STORE) {
            SpirvUsage::Buffer& b = usage_.buffers[s.imm];
            b.touched = b.stored = true;
            if (!ranges_.stores[each]) compared(s.imm);
        }
        block(s.body);
        block(s.otherwise);
    }
}

// Finds loads that may follow a write by the same invocation. Walks main in order; functions only
// load.
class ReadBack {
  public:
    ReadBack(std::vector<SpirvUsage::Buffer>& buffers, const ir::Program& program)
        : buffers_(buffers), program_(program), written_(buffers.size()) {
        for (const ir::Function& f : program.functions) {
            std::vector<bool>& loads = loads_.emplace_back(buffers.size());
            for (const ir::Expr& e : f.code.exprs) {
                if (e.op == Op::LOAD) loads[e.imm] = true;
                if (e.op != Op::CALL) continue;
                for (std::size_t b = 0; b < loads.size(); ++b)
                    if (loads_[e.imm][b]) loads[b] = true;
            }
        }
        block(program.main.root, false);
    }

  private:
    void block(ir::BlockId id, bool loop) {
        if (id == ir::kNone) return;
        for (const ir::StmtId each : program_.main.blocks[id]) {
            const ir::Stmt& s = program_.main.stmts[each];
            const bool loops = s.op == Op::FOR || s.op == Op::WHILE;
            if (loops && !loop) writes(s.body);  // an iteration may read what an earlier one wrote
            for (const ir::ExprId argument : s.args) read(argument);
            write(s);
            block(s.body, loop || loops);
            block(s.otherwise, loop || loops);
        }
    }
    void writes(ir::BlockId id) {
        if (id == ir::kNone) return;
        for (const ir::StmtId each : program_.main.blocks[id]) {
            const ir::Stmt& s = program_.main.stmts[each];
            write(s);
            writes(s.body);
            writes(s.otherwise);
        }
    }
    void write(const ir::Stmt& s) {
        if (s.op == Op::STORE) written_[s.imm] = true;
        for (const ir::ExprId argument : s.args) {
            if (argument == ir::kNone) continue;
            const ir::Expr& e = program_.main.exprs[argument];
            if (ir::op_atomic(e.op) && e.op != Op::ATOMIC_LOAD) written_[e.imm] = true;
        }
    }
    void read(ir::ExprId id) {
        if (id == ir::kNone) return;
        const ir::Expr& e = program_.main.exprs[id];
        if (e.op == Op::LOAD && written_[e.imm]) buffers_[e.imm].read_back = true;
        if (e.op == Op::CALL)
            for (std::size_t b = 0; b < written_.size(); ++b)
                if (loads_[e.imm][b] && written_[b]) buffers_[b].read_back = true;
        for (std::uint32_t k = 0; k < e.count; ++k) read(program_.main.operands[e.first + k]);
    }

    std::vector<SpirvUsage::Buffer>& buffers_;
    const ir::Program& program_;
    std::vector<bool> written_;
    std::vector<std::vector<bool>> loads_;  // by function
};

}  // namespace

SpirvUsage::SpirvUsage(const ir::Program& program, const Ranges& ranges, QuirkSet quirks)
    : buffers(program.buffers.size()), functions(program.functions.size()) {
    UsageScan(*this, program, program.main, ranges.of(ir::kNone)).run();
    for (std::uint32_t f = static_cast<std::uint32_t>(functions.size()); f-- > 0;)
        if (functions[f]) UsageScan(*this, program, program.functions[f].code, ranges.of(f)).run();
    if (quirks.has(Quirk::NvidiaVkReadBack)) ReadBack(buffers, program);
    const std::vector<bool> passed = passed_at_barriers(program);
    for (std::size_t b = 0; b < buffers.size(); ++b) buffers[b].passed = passed[b];
    QuirkSet disguising;
    for (const Quirk quirk :
         {Quirk::NvidiaVkWideCompare, Quirk::NvidiaVkAbsMin, Quirk::NvidiaVkOverflowByDivision,
          Quirk::NvidiaVkNarrowOnes, Quirk::NvidiaConstantNarrowing})
        disguising.set(quirk);
    if (!quirks.meets(disguising)) disguises = false;
}

}  // namespace wye::lower
