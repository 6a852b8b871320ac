// SPDX-License-Identifier: Apache-2.0
//
// Which arrays need no zero fill, because the program writes all of them before anything can see.
#include <algorithm>

#include "program/access.hpp"
#include "program/analysis.hpp"

namespace wye::ir {
namespace detail {
namespace {

class Fill {
  public:
    explicit Fill(const Program& program)
        : program_(program),
          code_(program.main),
          lets_(let_values(program.main)),
          reads_(function_reads(program)) {}

    ZeroFill run() {
        ZeroFill out;
        out.shared_skippable.resize(program_.buffers.size());
        out.outputs.resize(program_.buffers.size());
        shared(out);
        outputs(out);
        return out;
    }

  private:
    // ---- shared ----

    [[nodiscard]] bool contains(const Stmt& s, std::initializer_list<Op> ops) const {
        bool found = false;
        const auto look = [&](const Stmt& inner) {
            found = found || std::find(ops.begin(), ops.end(), inner.op) != ops.end();
            for (const ExprId e : inner.args)
                if (e != kNone && code_.exprs[e].op == Op::WORKGROUP_UNIFORM_LOAD)
                    found = found || std::find(ops.begin(), ops.end(), Op::BARRIER) != ops.end();
        };
        look(s);
        each_statement(code_, s.body, look);
        each_statement(code_, s.otherwise, look);
        return found;
    }

    void mark_reads(const Stmt& s, std::vector<bool>& read) const {
        const auto look = [&](const Stmt& inner) {
            for (const ExprId root : inner.args)
                each_node(code_, root, [&](const Expr& e) {
                    if (e.op == Op::LOAD || op_atomic(e.op) || e.op == Op::WORKGROUP_UNIFORM_LOAD)
                        read[e.imm] = true;
                    if (e.op == Op::CALL)
                        for (std::size_t k = 0; k < read.size(); ++k)
                            read[k] = read[k] || reads_[e.imm][k];
                });
        };
        look(s);
        each_statement(code_, s.body, look);
        each_statement(code_, s.otherwise, look);
    }

    // s[local_index] = ... at the top level of main, before any barrier, return or trap; nothing
    // reads s before that barrier. With grid barriers each phase starts at zero: none is skipped.
    void shared(ZeroFill& out) const {
        for (const Stmt& s : code_.stmts)
            if (s.op == Op::GRID_BARRIER) return;
        std::vector<bool> written(program_.buffers.size());
        std::vector<bool> read(program_.buffers.size());
        bool left = false;
        for (const StmtId id : code_.blocks[code_.root]) {
            const Stmt& s = code_.stmts[id];
            mark_reads(s, read);
            left = left || contains(s, {Op::RETURN, Op::TRAP});
            if (contains(s, {Op::BARRIER})) break;
            if (s.op == Op::STORE && !left && covers(program_.buffers[s.imm]) &&
                is_builtin(code_, lets_, s.args[0], WYE_BUILTIN_LOCAL_INDEX, 0))
                written[s.imm] = true;
        }
        for (std::size_t k = 0; k < written.size(); ++k)
            out.shared_skippable[k] = written[k] && !read[k];
    }

    [[nodiscard]] bool covers(const Buffer& b) const {
        return b.shared() && !program_.adjustable && b.count <= program_.workgroup_invocations();
    }

    // ---- outputs ----

    void outputs(ZeroFill& out) {
        stores_.assign(program_.buffers.size(), 0);
        seen_.assign(program_.buffers.size(), false);  // used in another way than a store
        for (const std::vector<bool>& function : reads_)
            for (std::size_t k = 0; k < function.size(); ++k) seen_[k] = seen_[k] || function[k];
        for (const Expr& e : code_.exprs)
            if (e.op == Op::LOAD || op_atomic(e.op)) seen_[e.imm] = true;
        block(code_.root, true, out);
        for (std::size_t k = 0; k < program_.buffers.size(); ++k) {
            auto& o = out.outputs[k];
            o.candidate = o.candidate && stores_[k] == 1 && !seen_[k] &&
                          program_.buffers[k].role == Role::OUTPUT;
            if (!o.candidate) o.guards.clear();
        }
    }

    // `plain`: under no conditions but `i < len(b)`.
    void block(BlockId id, bool plain, ZeroFill& out) {
        if (id == kNone) return;
        for (const StmtId sid : code_.blocks[id]) {
            const Stmt& s = code_.stmts[sid];
            if (s.op == Op::RETURN || s.op == Op::TRAP) left_ = true;
            if (s.op == Op::STORE) {
                ++stores_[s.imm];
                auto& o = out.outputs[s.imm];
                o.candidate = plain && !left_ && own(s.args[0]);
                o.guards = guards_;
                std::sort(o.guards.begin(), o.guards.end());
                o.guards.erase(std::unique(o.guards.begin(), o.guards.end()), o.guards.end());
            }
            const std::size_t mark = guards_.size();
            const bool guard = s.op == Op::IF && guards(s.args[0]);
            block(s.body, plain && guard, out);
            guards_.resize(mark);
            block(s.otherwise, false, out);
        }
    }

    [[nodiscard]] bool own(ExprId id) const {
        return is_builtin(code_, lets_, id, WYE_BUILTIN_GLOBAL_ID, 0);
    }

    // Notes the buffers of `i < len(b)`, joined by `&&`. False when the condition says more.
    bool guards(ExprId id) {
        const Expr& e = resolve(code_, lets_, id);
        const auto operands = code_.operands_of(e);
        if (e.op == Op::LOGICAL_AND && e.type.scalar())
            return guards(operands[0]) && guards(operands[1]);
        if (e.op != Op::LT && e.op != Op::GT) return false;
        const std::size_t index = e.op == Op::LT ? 0 : 1;
        const Expr& limit = resolve(code_, lets_, operands[1 - index]);
        const bool length = limit.op == Op::LEN || limit.op == Op::LEN64;
        if (!length || !own(operands[index])) return false;
        guards_.push_back(limit.imm);
        return true;
    }

    const Program& program_;
    const Code& code_;
    std::vector<ExprId> lets_;
    std::vector<std::vector<bool>> reads_;
    std::vector<std::uint32_t> stores_;
    std::vector<bool> seen_;
    std::vector<std::uint16_t> guards_;
    bool left_ = false;
};

}  // namespace
}  // namespace detail

ZeroFill zero_fill(const Program& program) { return detail::Fill(program).run(); }

}  // namespace wye::ir
