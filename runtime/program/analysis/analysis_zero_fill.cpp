// SPDX-License-Identifier: Apache-2.0
//
// Finds arrays that need no zero fill, because the program writes all of them before any read.
#include <algorithm>
#include <optional>

#include "program/analysis/access.hpp"
#include "program/analysis/analysis.hpp"

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
    // ---- `shared` arrays ----

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

    // Accepts s[local_index] = ... at the top level of main, before the first barrier, return or
    // trap, if nothing reads s before the first barrier. With grid barriers, each phase starts with
    // zeros, so no fill is skipped.
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
        // By buffer index: whether it is accessed other than by a store.
        seen_.assign(program_.buffers.size(), false);
        for (const std::vector<bool>& function : reads_)
            for (std::size_t k = 0; k < function.size(); ++k) seen_[k] = seen_[k] || function[k];
        for (const Expr& e : code_.exprs)
            if (e.op == Op::LOAD || op_atomic(e.op)) seen_[e.imm] = true;
        block(code_.root, true, out);
        for (std::size_t k = 0; k < program_.buffers.size(); ++k)
            if (stores_[k] != 1 || seen_[k] || program_.buffers[k].role != Role::OUTPUT)
                out.outputs[k] = {};
    }

    // `plain`: all conditions so far are of the form `coordinate < limit`.
    void block(BlockId id, bool plain, ZeroFill& out) {
        if (id == kNone) return;
        for (const StmtId sid : code_.blocks[id]) {
            const Stmt& s = code_.stmts[sid];
            if (s.op == Op::RETURN || s.op == Op::TRAP) left_ = true;
            if (s.op == Op::STORE && ++stores_[s.imm] == 1 && plain && !left_)
                out.outputs[s.imm] = output(s.args[0]);
            const std::size_t mark = guards_.size();
            const Loop around = loop_;
            const bool guard = s.op == Op::IF && guards(s.args[0]);
            const bool rounds = s.op == Op::FOR && loop_.count == 0 && enter(s);
            block(s.body, plain && (guard || rounds), out);
            guards_.resize(mark);
            loop_ = around;
            block(s.otherwise, false, out);
        }
    }

    // The loop around the statement: `for local in 0..count` with a literal count. All its
    // iterations complete. `count` 0 means no loop.
    struct Loop {
        std::uint32_t local = kNone;
        std::uint64_t count = 0;
    };
    bool enter(const Stmt& s) {
        const auto literal = [&](unsigned k) { return code_.exprs[s.args[k]]; };
        for (unsigned k = 0; k < 3; ++k)
            if (literal(k).op != Op::LITERAL || literal(k).type != kU32) return false;
        if (literal(0).extra != 0 || literal(1).extra == 0 || literal(2).extra != 1) return false;
        if (contains(s, {Op::BREAK, Op::CONTINUE, Op::RETURN, Op::TRAP})) return false;
        loop_ = {s.local, literal(1).extra};
        return true;
    }

    using Limit = ZeroFill::Limit;
    using Coordinate = ZeroFill::Coordinate;
    struct Guard {
        Coordinate coordinate;
        Limit limit;
    };

    [[nodiscard]] static bool same(const Coordinate& a, const Coordinate& b) {
        return a.group == b.group && a.local == b.local && a.size == b.size;
    }

    [[nodiscard]] ZeroFill::Output output(ExprId index) const {
        ZeroFill::Output o;
        const Expr& e = resolve(code_, lets_, index);
        if (const auto column = coordinate(index); column && loop_.count == 0) {
            o.column = *column;
            o.candidate = true;
        } else if (e.op == Op::ADD && e.type == kU32) {
            const auto ids = code_.operands_of(e);
            o.candidate = rows(ids[0], ids[1], o) || rows(ids[1], ids[0], o);
        }
        for (const Guard& guard : guards_) {
            if (o.loop == 0 && same(guard.coordinate, o.column))
                o.column.below.push_back(guard.limit);
            else if (o.has_rows && same(guard.coordinate, o.row))
                o.row.below.push_back(guard.limit);
            else
                o.candidate = false;
        }
        return o.candidate ? o : ZeroFill::Output{};
    }

    // Matches row * pitch + column with independent row and column.
    [[nodiscard]] bool rows(ExprId product, ExprId column, ZeroFill::Output& o) const {
        const Expr& e = resolve(code_, lets_, product);
        const Expr& last = resolve(code_, lets_, column);
        const bool round = loop_.count != 0 && last.op == Op::LOCAL && last.extra == loop_.local;
        const auto x = coordinate(column);
        if (e.op != Op::MUL || !(round || (x && loop_.count == 0))) return false;
        const auto ids = code_.operands_of(e);
        for (const unsigned first : {0U, 1U}) {
            const auto y = coordinate(ids[first]);
            const auto pitch = limit(ids[1 - first]);
            if (!y || !pitch) continue;
            if (!round && (y->group == x->group || y->local == x->local)) continue;
            o.has_rows = true;
            if (round)
                o.loop = loop_.count;
            else
                o.column = *x;
            o.row = *y;
            o.pitch = *pitch;
            return true;
        }
        return false;
    }

    [[nodiscard]] std::optional<Coordinate> coordinate(ExprId id) const {
        for (std::uint8_t axis = 0; axis < 3; ++axis)
            if (is_builtin(code_, lets_, id, WYE_BUILTIN_GLOBAL_ID, axis))
                return Coordinate{axis, axis, 0, {}};
        const Expr& sum = resolve(code_, lets_, id);
        if (sum.op != Op::ADD || sum.type != kU32) return std::nullopt;
        const auto ids = code_.operands_of(sum);
        for (const unsigned first : {0U, 1U}) {
            const auto local = axis_of(ids[1 - first], WYE_BUILTIN_LOCAL_ID);
            const Expr& product = resolve(code_, lets_, ids[first]);
            if (!local || product.op != Op::MUL) continue;
            const auto factors = code_.operands_of(product);
            for (const unsigned k : {0U, 1U}) {
                const auto group = axis_of(factors[k], WYE_BUILTIN_WORKGROUP_ID);
                const Expr& size = resolve(code_, lets_, factors[1 - k]);
                if (!group) continue;
                if (size.op == Op::LITERAL && size.extra != 0)
                    return Coordinate{*group, *local, static_cast<std::uint32_t>(size.extra), {}};
                if (axis_of(factors[1 - k], WYE_BUILTIN_WORKGROUP_SIZE) == local)
                    return Coordinate{*group, *local, 0, {}};
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] std::optional<std::uint8_t> axis_of(ExprId id, unsigned builtin) const {
        if (code_.exprs[id].type != kU32) return std::nullopt;
        for (std::uint8_t axis = 0; axis < 3; ++axis)
            if (is_builtin(code_, lets_, id, builtin, axis)) return axis;
        return std::nullopt;
    }

    [[nodiscard]] std::optional<Limit> limit(ExprId id) const {
        const Expr& e = resolve(code_, lets_, id);
        if (e.op == Op::LEN || e.op == Op::LEN64) return Limit{Limit::From::Length, e.imm};
        if (e.type != kU32) return std::nullopt;
        if (e.op == Op::LITERAL) return Limit{Limit::From::Literal, e.extra};
        if (e.op == Op::PARAM) return Limit{Limit::From::Param, e.imm};
        if (e.op != Op::DIV) return std::nullopt;
        const auto whole = limit(code_.operands_of(e)[0]);
        const Expr& divisor = resolve(code_, lets_, code_.operands_of(e)[1]);
        if (!whole || whole->divided_by != 1 || divisor.op != Op::LITERAL || divisor.extra == 0)
            return std::nullopt;
        return Limit{whole->from, whole->value, static_cast<std::uint32_t>(divisor.extra)};
    }

    // Collects conditions `coordinate < limit` that are joined by `&&`. Returns false if another
    // condition is among them.
    bool guards(ExprId id) {
        const Expr& e = resolve(code_, lets_, id);
        const auto operands = code_.operands_of(e);
        if (e.op == Op::LOGICAL_AND && e.type.scalar())
            return guards(operands[0]) && guards(operands[1]);
        if (e.op != Op::LT && e.op != Op::GT) return false;
        const std::size_t index = e.op == Op::LT ? 0 : 1;
        const auto left = coordinate(operands[index]);
        const auto right = limit(operands[1 - index]);
        if (!left || !right) return false;
        guards_.push_back({*left, *right});
        return true;
    }

    const Program& program_;
    const Code& code_;
    std::vector<ExprId> lets_;
    std::vector<std::vector<bool>> reads_;
    std::vector<std::uint32_t> stores_;
    std::vector<bool> seen_;
    std::vector<Guard> guards_;
    Loop loop_;
    bool left_ = false;
};

}  // namespace
}  // namespace detail

ZeroFill zero_fill(const Program& program) { return detail::Fill(program).run(); }

}  // namespace wye::ir
