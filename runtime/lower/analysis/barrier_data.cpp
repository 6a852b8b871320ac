// SPDX-License-Identifier: Apache-2.0
#include "lower/analysis/barrier_data.hpp"

#include <algorithm>

namespace wye::lower {
namespace {

using ir::Op;

// Returns the operation of a statement's first argument. An effect can only occur there, never
// inside an expression.
Op effect(const ir::Code& code, const ir::Stmt& s) {
    return s.args[0] == ir::kNone ? Op::None : code.exprs[s.args[0]].op;
}

bool is_barrier(const ir::Code& code, const ir::Stmt& s) {
    return s.op == Op::BARRIER || s.op == Op::GRID_BARRIER ||
           effect(code, s) == Op::WORKGROUP_UNIFORM_LOAD;
}

struct Uses {
    bool loaded = false;
    unsigned writes = 0;    // stores and atomics; only main has them
    bool repeated = false;  // a write is in a loop that contains a barrier
};

class Scan {
  public:
    explicit Scan(const ir::Program& program) : main_(program.main), uses(program.buffers.size()) {
        loads(program.main);
        for (const ir::Function& f : program.functions) loads(f.code);
        block(program.main.root, false);
    }

  private:
    void loads(const ir::Code& code) {
        for (const ir::Expr& e : code.exprs)
            if (e.op == Op::LOAD || e.op == Op::WORKGROUP_UNIFORM_LOAD) uses[e.imm].loaded = true;
    }
    void write(std::uint32_t buffer, bool loop) {
        ++uses[buffer].writes;
        uses[buffer].repeated = uses[buffer].repeated || loop;
    }
    void block(ir::BlockId id, bool loop) {
        if (id == ir::kNone) return;
        for (const ir::StmtId each : main_.blocks[id]) {
            const ir::Stmt& s = main_.stmts[each];
            barrier = barrier || is_barrier(main_, s);
            if (s.op == Op::STORE) write(s.imm, loop);
            if (ir::op_atomic(effect(main_, s))) write(main_.exprs[s.args[0]].imm, loop);
            const bool loops = s.op == Op::FOR || s.op == Op::WHILE;
            block(s.body, loop || (loops && holds_barrier(main_, s.body)));
            block(s.otherwise, loop);
        }
    }

    const ir::Code& main_;

  public:
    std::vector<Uses> uses;
    bool barrier = false;
};

}  // namespace

bool holds_barrier(const ir::Code& main, ir::BlockId block) {
    if (block == ir::kNone) return false;
    return std::ranges::any_of(main.blocks[block], [&](ir::StmtId each) {
        const ir::Stmt& s = main.stmts[each];
        return is_barrier(main, s) || holds_barrier(main, s.body) ||
               holds_barrier(main, s.otherwise);
    });
}

std::vector<bool> passed_at_barriers(const ir::Program& program) {
    const Scan scan(program);
    std::vector<bool> out(program.buffers.size());
    for (std::size_t b = 0; b < out.size(); ++b) {
        const Uses& u = scan.uses[b];
        out[b] = scan.barrier && !program.buffers[b].shared() && u.writes != 0 &&
                 (u.loaded || u.writes > 1 || u.repeated);
    }
    return out;
}

}  // namespace wye::lower
