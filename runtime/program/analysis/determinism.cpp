// SPDX-License-Identifier: Apache-2.0
//
// Decides whether every launch of a program gives the same bytes; each unproven point is a doubt.
#include "program/analysis/determinism.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "program/analysis/access.hpp"
#include "program/check/validator.hpp"

namespace wye::ir::detail {
namespace {

// How the index of an access depends on the invocation.
struct Index {
    enum class Form {
        Unknown,
        Strided,  // id * stride + a literal below stride
        Rows      // global_id.y * row + global_id.x, where global_id.x < row holds
    };
    Form form = Form::Unknown;
    std::uint64_t stride = 1;
    const Expr* row = nullptr;  // a parameter, length or literal
};

struct Access {
    enum class Kind { Load, Store, Atomic };
    Kind kind = Kind::Load;
    Op op = Op::None;  // the operation, if it is an atomic
    Index index;
    Place place;
};

bool same_leaf(const Expr& a, const Expr& b) {
    return a.op == b.op && a.imm == b.imm && a.extra == b.extra;
}

class Doubts {
  public:
    Doubts(const Program& program, Analysis& out)
        : program_(program),
          code_(program.main),
          out_(out),
          lets_(let_values(program.main)),
          reads_(function_reads(program)),
          accesses_(program.buffers.size()) {}

    void run() {
        // The verdict may assume that a launch has no more axes than the program uses.
        const auto axes = static_cast<std::uint32_t>(program_.grid.axes.size());
        one_axis_ = program_.workgroup[1] == 1 && program_.workgroup[2] == 1 && axes <= 1;
        two_axes_ = program_.workgroup[2] == 1 && (axes == 0 || axes == 2);
        for (const StmtId id : code_.blocks[code_.root]) {
            const Stmt& s = code_.stmts[id];
            if (s.op == Op::BARRIER || s.op == Op::GRID_BARRIER)
                close(s.op == Op::GRID_BARRIER);
            else
                statement(s);
        }
        close(true);
        if (out_.own_grid.empty()) condition();
        unset();
        if (out_.may_not_terminate)
            each_statement(code_, code_.root, [this](const Stmt& s) {
                if (s.op == Op::WHILE) doubt("may_not_terminate", "a `while` loop", s.place);
            });
        if (out_.uses_subgroup && program_.subgroup == 0) width();
    }

  private:
    void doubt(const std::string& reason, const std::string& what, Place place, Place other = {}) {
        for (const Doubt& d : out_.doubts)
            if (d.reason == reason && d.what == what) return;
        out_.doubts.push_back({reason, what, place, other});
    }

    // ---- indices ----

    std::optional<std::uint64_t> literal(ExprId id) const {
        const Expr& e = resolve(code_, lets_, id);
        if (e.op != Op::LITERAL) return std::nullopt;
        return e.extra;
    }

    bool own_id(ExprId id, bool shared) const {
        if (!shared) return is_builtin(code_, lets_, id, WYE_BUILTIN_GLOBAL_ID, 0);
        const bool line =
            program_.workgroup[1] == 1 && program_.workgroup[2] == 1 && !program_.adjustable;
        return is_builtin(code_, lets_, id, WYE_BUILTIN_LOCAL_INDEX, 0) ||
               (line && is_builtin(code_, lets_, id, WYE_BUILTIN_LOCAL_ID, 0));
    }

    // Returns K for id * K or K * id, 1 for id alone, and 0 for any other expression.
    std::uint64_t stride(ExprId id, bool shared) const {
        if (own_id(id, shared)) return 1;
        const Expr& e = resolve(code_, lets_, id);
        if (e.op != Op::MUL) return 0;
        const auto operands = code_.operands_of(e);
        for (const std::size_t k : {0U, 1U})
            if (const auto factor = literal(operands[1 - k]); factor && own_id(operands[k], shared))
                return *factor < (std::uint64_t{1} << 20) ? *factor : 0;
        return 0;
    }

    [[nodiscard]] const Expr* row_leaf(ExprId id) const {
        const Expr& e = resolve(code_, lets_, id);
        const bool fixed = e.op == Op::PARAM || e.op == Op::LEN || e.op == Op::LITERAL;
        return fixed && e.type == kU32 ? &e : nullptr;
    }

    // Whether global_id.x < row holds at the current statement.
    [[nodiscard]] bool guarded(const Expr& row) const {
        return std::any_of(guards_.begin(), guards_.end(), [&](ExprId guard) {
            const Expr& e = resolve(code_, lets_, guard);
            if (e.op != Op::LT && e.op != Op::GT) return false;
            const auto operands = code_.operands_of(e);
            const std::size_t id = e.op == Op::LT ? 0 : 1;
            const Expr* limit = row_leaf(operands[1 - id]);
            return limit != nullptr && same_leaf(*limit, row) &&
                   is_builtin(code_, lets_, operands[id], WYE_BUILTIN_GLOBAL_ID, 0);
        });
    }

    [[nodiscard]] Index rows(const Expr& sum) const {
        const auto terms = code_.operands_of(sum);
        for (const std::size_t k : {0U, 1U}) {
            if (!is_builtin(code_, lets_, terms[k], WYE_BUILTIN_GLOBAL_ID, 0)) continue;
            const Expr& product = resolve(code_, lets_, terms[1 - k]);
            if (product.op != Op::MUL) continue;
            const auto factors = code_.operands_of(product);
            for (const std::size_t y : {0U, 1U}) {
                const Expr* row = row_leaf(factors[1 - y]);
                if (row != nullptr && guarded(*row) &&
                    is_builtin(code_, lets_, factors[y], WYE_BUILTIN_GLOBAL_ID, 1))
                    return {Index::Form::Rows, 1, row};
            }
        }
        return {};
    }

    [[nodiscard]] Index classify(ExprId id, bool shared) const {
        if (const std::uint64_t k = stride(id, shared); k > 0)
            return {Index::Form::Strided, k, nullptr};
        const Expr& e = resolve(code_, lets_, id);
        if (e.op != Op::ADD) return {};
        const auto terms = code_.operands_of(e);
        for (const std::size_t k : {0U, 1U}) {
            const auto offset = literal(terms[1 - k]);
            const std::uint64_t step = stride(terms[k], shared);
            if (offset && step > 0 && *offset < step) return {Index::Form::Strided, step, nullptr};
        }
        return shared ? Index{} : rows(e);
    }

    // ---- accesses ----

    void access(std::uint32_t buffer, Access::Kind kind, Op op, ExprId index, Place place) {
        const Buffer& b = program_.buffers[buffer];
        if (!role_writable(b.role)) return;
        Access a;
        a.kind = kind;
        a.op = op;
        a.place = place;
        if (index != kNone) a.index = classify(index, b.shared());
        accesses_[buffer].push_back(a);
    }

    void expression(ExprId root) {
        each_node(code_, root, [this](const Expr& e) {
            const auto operands = code_.operands_of(e);
            if (e.op == Op::LOAD || e.op == Op::WORKGROUP_UNIFORM_LOAD)
                access(e.imm, Access::Kind::Load, e.op, operands[0], e.place);
            if (op_atomic(e.op)) access(e.imm, Access::Kind::Atomic, e.op, operands[0], e.place);
            if (e.op != Op::CALL) return;
            for (std::size_t k = 0; k < reads_[e.imm].size(); ++k)
                if (reads_[e.imm][k])
                    access(static_cast<std::uint32_t>(k), Access::Kind::Load, e.op, kNone, e.place);
        });
    }

    void statement(const Stmt& s) {
        for (const ExprId e : s.args) {
            if (e == kNone) continue;
            expression(e);
            const Expr& effect = code_.exprs[e];
            if (op_atomic(effect.op)) atomic(effect, s.op != Op::EFFECT);
        }
        if (s.op == Op::STORE) access(s.imm, Access::Kind::Store, s.op, s.args[0], s.place);
        const std::size_t mark = guards_.size();
        if (s.op == Op::IF) guard(s.args[0]);
        block(s.body);
        guards_.resize(mark);
        block(s.otherwise);
    }

    void block(BlockId id) {
        if (id == kNone) return;
        for (const StmtId s : code_.blocks[id]) statement(code_.stmts[s]);
    }

    // Adds the conditions in `id` that are joined by `&&`.
    void guard(ExprId id) {
        const Expr& e = resolve(code_, lets_, id);
        if (e.op == Op::LOGICAL_AND && e.type.scalar()) {
            for (const ExprId operand : code_.operands_of(e)) guard(operand);
            return;
        }
        guards_.push_back(id);
    }

    void atomic(const Expr& e, bool used) {
        const std::string what =
            fmt::format("`{}` on `{}`", op_text(e.op), program_.buffers[e.imm].name);
        if (program_.buffers[e.imm].type.floating()) doubt("float_atomic", what, e.place);
        if (used)
            doubt("atomic_order", fmt::format("the result of {} is used", what), e.place);
        else if (e.op == Op::ATOMIC_EXCHANGE || e.op == Op::ATOMIC_CAS || e.op == Op::ATOMIC_STORE)
            doubt("atomic_order", fmt::format("{} keeps the last value", what), e.place);
    }

    // ---- intervals ----

    // Ends an interval between barriers: of `shared` arrays or, at a grid barrier, of all buffers.
    void close(bool grid) {
        for (std::size_t k = 0; k < accesses_.size(); ++k) {
            if (!grid && !program_.buffers[k].shared()) continue;
            judge(static_cast<std::uint32_t>(k));
            accesses_[k].clear();
        }
    }

    void judge(std::uint32_t buffer) {
        const std::vector<Access>& list = accesses_[buffer];
        const std::string name = quoted(program_.buffers[buffer].name);
        bool only_loads = true;
        bool only_atomics = true;
        const Access* first_atomic = nullptr;
        for (const Access& a : list) {
            only_loads = only_loads && a.kind == Access::Kind::Load;
            only_atomics = only_atomics && a.kind == Access::Kind::Atomic;
            if (a.kind != Access::Kind::Atomic) continue;
            if (first_atomic != nullptr && first_atomic->op != a.op)
                doubt("atomic_order",
                      fmt::format("`{}` and `{}` on {}", op_text(first_atomic->op), op_text(a.op),
                                  name),
                      a.place);
            first_atomic = first_atomic == nullptr ? &a : first_atomic;
        }
        if (only_loads || only_atomics) return;
        const bool shared = program_.buffers[buffer].shared();
        if (const Access* stranger = not_own(list, shared))
            doubt("race", name, stranger->place, met_by(*stranger, list));
        else if (!shared)
            assume(list.front(), name);
    }

    // Returns the place of the first access in `list`, other than `one`, that may race with `one`.
    static Place met_by(const Access& one, const std::vector<Access>& list) {
        const auto found = std::ranges::find_if(list, [&](const Access& other) {
            return !(other.place == one.place) &&
                   (one.kind != other.kind || one.kind == Access::Kind::Store);
        });
        return found == list.end() ? Place{} : found->place;
    }

    // Returns the first access that may conflict with an access of another invocation, or null if
    // each invocation accesses its own elements only.
    const Access* not_own(const std::vector<Access>& list, bool shared) {
        const Index& common = list.front().index;
        for (const Access& a : list) {
            if (a.index.form == Index::Form::Unknown || a.index.form != common.form) return &a;
            if (a.index.stride != common.stride) return &a;
            if (a.index.row != nullptr && !same_leaf(*a.index.row, *common.row)) return &a;
        }
        if (shared) return nullptr;
        const bool rows = common.form == Index::Form::Rows;
        return (rows ? two_axes_ : one_axis_) ? nullptr : &list.front();
    }

    // ---- assumptions ----

    // Adds the assumption under which an array with accesses like this one has no race. If the
    // literals of the program's own grid break it, adds a race, too.
    void assume(const Access& access, const std::string& name) {
        Assumptions& assumes = out_.assumes;
        std::optional<bool> fits;
        if (access.index.form == Index::Form::Rows) {
            assumes.axes = std::min(assumes.axes, 2U);
            const SizeExpr row = row_size(*access.index.row);
            if (std::ranges::find(assumes.rows, row) == assumes.rows.end())
                assumes.rows.push_back(row);
            fits = fits_rows(row);
        } else {
            assumes.axes = std::min(assumes.axes, 1U);
            const std::uint64_t limit = Assumptions::kIndices / access.index.stride;
            assumes.x_invocations = std::min(assumes.x_invocations, limit);
            fits = fits_x(limit);
        }
        if (fits.value_or(true)) return;
        out_.own_grid.push_back(
            {"race", fmt::format("{}, whose indices repeat in the program's own grid", name),
             access.place});
    }

    // Whether the program's own grid is within a limit; none: the launch decides that.
    [[nodiscard]] std::optional<bool> fits_x(std::uint64_t limit) const {
        if (limit >= Assumptions::kIndices) return true;  // no axis has more invocations
        const auto x = own_invocations(0);
        if (!x) return std::nullopt;
        return *x <= limit;
    }
    [[nodiscard]] std::optional<bool> fits_rows(const SizeExpr& row) const {
        const auto length = fixed(row), y = own_invocations(1);
        if ((length && *length <= 1) || (y && *y <= 1)) return true;
        if (!length || !y) return std::nullopt;
        return *length <= Assumptions::kIndices / *y;
    }

    // The invocations on an axis of the program's own grid, if literals determine them.
    [[nodiscard]] std::optional<std::uint64_t> own_invocations(std::size_t axis) const {
        const std::uint64_t size = program_.workgroup[axis];
        if (program_.grid.kind == WYE_GRID_NONE) return std::nullopt;
        if (axis >= program_.grid.axes.size()) return size;
        const auto given = fixed(program_.grid.axes[axis]);
        if (!given) return std::nullopt;
        const std::uint64_t count = std::min(*given, Assumptions::kIndices);
        if (program_.grid.kind != WYE_GRID_ELEMENTS) return count * size;
        return (count + size - 1) / size * size;
    }

    // The value of a size, if literals determine it.
    [[nodiscard]] std::optional<std::uint64_t> fixed(const SizeExpr& size) const {
        const auto varies = [&](const SizeNode& node) {
            return node.op == WYE_SIZE_PARAM ||
                   (node.op == WYE_SIZE_LEN &&
                    program_.buffers[node.index].count_kind != Buffer::Count::Literal);
        };
        if (std::ranges::any_of(size, varies)) return std::nullopt;
        std::vector<std::uint64_t> lengths;
        for (const Buffer& b : program_.buffers) lengths.push_back(b.count);
        const auto value = evaluate_size(size, program_, {}, lengths, {});
        if (!value.ok()) return std::nullopt;
        return *value;
    }

    // Puts into words the assumptions that only some launches with the program's own grid fulfil.
    void condition() {
        const Assumptions& assumes = out_.assumes;
        std::vector<std::string> parts;
        if (assumes.axes < 3 && program_.grid.kind == WYE_GRID_NONE)
            parts.push_back(fmt::format("the launch has one invocation on {}",
                                        assumes.axes == 1 ? "the y and z axes" : "the z axis"));
        if (!fits_x(assumes.x_invocations))
            parts.push_back(fmt::format("the launch has at most {} invocations on the x axis",
                                        assumes.x_invocations));
        for (const SizeExpr& row : assumes.rows) {
            if (fits_rows(row)) continue;
            if (const auto length = fixed(row))
                parts.push_back(fmt::format("the launch has at most {} invocations on the y axis",
                                            Assumptions::kIndices / *length));
            else
                parts.push_back(
                    fmt::format("`{}` times the invocations on the y axis is at most {}",
                                size_name(row[0]), Assumptions::kIndices));
        }
        out_.condition = fmt::format("{}", fmt::join(parts, ", and "));
    }

    [[nodiscard]] std::string size_name(const SizeNode& node) const {
        if (node.op == WYE_SIZE_PARAM) return program_.params[node.index].name;
        return fmt::format("len({})", program_.buffers[node.index].name);
    }

    static SizeExpr row_size(const Expr& row) {
        if (row.op == Op::LITERAL) return {SizeNode{WYE_SIZE_LITERAL, 0, row.extra}};
        const std::uint8_t op = row.op == Op::PARAM ? WYE_SIZE_PARAM : WYE_SIZE_LEN;
        return {SizeNode{op, row.imm, 0}};
    }

    // ---- unset buffers and subgroup width ----

    void unset() {
        const ZeroFill fill = zero_fill(program_);
        for (std::size_t k = 0; k < program_.buffers.size(); ++k) {
            const Buffer& b = program_.buffers[k];
            if (b.unset && !(b.shared() && fill.shared_skippable[k]))
                doubt("unset", quoted(b.name), b.place);
        }
    }

    void width() {
        for (const Need& n : out_.needs)
            if (n.capability == "subgroup")
                doubt("subgroup_width", fmt::format("{} without `subgroup N`", n.because), n.place);
    }

    const Program& program_;
    const Code& code_;
    Analysis& out_;
    std::vector<ExprId> lets_;
    std::vector<std::vector<bool>> reads_;
    std::vector<std::vector<Access>> accesses_;  // by buffer: its accesses in the open interval
    std::vector<ExprId> guards_;
    bool one_axis_ = false;
    bool two_axes_ = false;
};

}  // namespace

void find_doubts(const Program& program, Analysis& out) { Doubts(program, out).run(); }

}  // namespace wye::ir::detail

namespace wye::ir {

bool Assumptions::hold(std::span<const std::uint64_t> params,
                       std::span<const std::uint64_t> lengths,
                       const std::array<std::uint64_t, 3>& invocations) const {
    for (std::size_t axis = axes; axis < 3; ++axis)
        if (invocations[axis] > 1) return false;
    if (invocations[0] > x_invocations) return false;
    // Row lengths and numbers of invocations are below 2^32, so the product does not overflow.
    return std::ranges::all_of(rows, [&](const SizeExpr& row) {
        const SizeNode& node = row.front();
        std::uint64_t length = node.literal;
        if (node.op == WYE_SIZE_PARAM) length = params[node.index];
        if (node.op == WYE_SIZE_LEN) length = std::min(lengths[node.index], kIndices - 1);
        return length * invocations[1] <= kIndices;
    });
}

bool Assumptions::read_params() const {
    return std::ranges::any_of(
        rows, [](const SizeExpr& row) { return row.front().op == WYE_SIZE_PARAM; });
}

}  // namespace wye::ir
