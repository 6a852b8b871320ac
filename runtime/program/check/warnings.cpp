// SPDX-License-Identifier: Apache-2.0
#include "program/check/warnings.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "program/check/spinning.hpp"
#include "program/check/validator.hpp"
#include "program/text/literal.hpp"

namespace wye::ir {

namespace detail {
namespace {

__extension__ using Exact = __int128;

// The values that an integer expression can have, in exact numbers. Meaningful only if `known`.
struct Range {
    bool known = false;
    Exact low = 0;
    Exact high = 0;
};

Range exactly(Exact value) { return {true, value, value}; }

class Warner {
  public:
    Warner(const Program& program, std::uint32_t function, const Code& code, Report& report)
        : program_(program),
          function_(function),
          code_(code),
          report_(report),
          read_(code.locals.size()),
          written_(code.locals.size()),
          value_(code.locals.size()) {}

    void run() {
        for (const auto& block : code_.blocks)
            for (const StmtId s : block) statement(code_.stmts[s]);
        if (code_.result != kNone) tree(code_.result);
        unused();
    }

  private:
    void say(Place place, std::string message, std::string fix) {
        report_.code(function_, place, std::move(message), std::move(fix));
    }

    // ---- ranges ----

    Range of_type(Type t) const {
        if (!t.integer() || !t.scalar()) return {};
        const unsigned bits = t.bits();
        const Exact half = static_cast<Exact>(1) << (bits - 1);
        return t.signed_integer() ? Range{true, -half, half - 1} : Range{true, 0, 2 * half - 1};
    }

    Range builtin(std::uint16_t index) const {
        std::uint64_t size = 1;
        for (const std::uint32_t axis : program_.workgroup) size *= axis;
        if (index == WYE_BUILTIN_LOCAL_INDEX && !program_.adjustable)
            return {true, 0, static_cast<Exact>(size) - 1};
        return {};
    }

    // The range of an expression. Known only if the arithmetic in it cannot wrap.
    Range range(ExprId id, unsigned depth = 0) const {
        constexpr unsigned kDeepest = 16;
        const Expr& e = code_.exprs[id];
        const Range whole = of_type(e.type);
        if (!whole.known || depth > kDeepest) return {};
        const auto operand = [&](std::size_t k) {
            return range(code_.operands_of(e)[k], depth + 1);
        };
        const auto within = [&](Range r) {
            return r.known && r.low >= whole.low && r.high <= whole.high ? r : Range{};
        };
        switch (e.op) {
            case Op::LITERAL:
                return exactly(e.type.signed_integer()
                                   ? static_cast<Exact>(signed_value(e.type, e.extra))
                                   : static_cast<Exact>(e.extra));
            case Op::BUILTIN:
                return builtin(e.imm);
            case Op::LOCAL:
                return value_[e.extra];
            case Op::CONVERT: {
                const ExprId from = code_.operands_of(e)[0];
                return code_.exprs[from].type.integer() ? within(range(from, depth + 1)) : Range{};
            }
            case Op::ADD:
            case Op::SUB: {
                const Range a = operand(0), b = operand(1);
                if (!a.known || !b.known) return {};
                return within(e.op == Op::ADD ? Range{true, a.low + b.low, a.high + b.high}
                                              : Range{true, a.low - b.high, a.high - b.low});
            }
            case Op::MUL: {
                const Range a = operand(0), b = operand(1);
                constexpr Exact kLarge = static_cast<Exact>(1) << 62;
                if (!a.known || !b.known || a.low < 0 || b.low < 0 || a.high > kLarge ||
                    b.high > kLarge)
                    return {};
                return within({true, a.low * b.low, a.high * b.high});
            }
            default:
                return {};
        }
    }

    // ---- operations ----

    void tree(ExprId root) {
        open_.assign(1, root);
        while (!open_.empty()) {
            const ExprId id = open_.back();
            open_.pop_back();
            const Expr& e = code_.exprs[id];
            for (const ExprId operand : code_.operands_of(e)) open_.push_back(operand);
            operation(e);
        }
    }

    void operation(const Expr& e) {
        const auto operands = code_.operands_of(e);
        switch (e.op) {
            case Op::LOCAL:
            case Op::LEN_ARRAY:
            case Op::LEN64_ARRAY:
                read_[e.extra] = true;
                return;
            case Op::LOAD_ARRAY:
                read_[e.extra] = true;
                index(operands[0], local_name(code_, static_cast<std::uint32_t>(e.extra)),
                      code_.locals[e.extra].count, "reads zero");
                return;
            case Op::LOAD:
            case Op::WORKGROUP_UNIFORM_LOAD:
                buffer_index(operands[0], e.imm, "reads zero");
                return;
            case Op::LOAD_TABLE:
                index(operands[0], quoted(program_.tables[e.imm].name),
                      program_.tables[e.imm].bits.size(), "reads zero");
                return;
            case Op::SHL:
            case Op::SHR:
                shift(e, operands[1]);
                return;
            case Op::DIV:
            case Op::REM:
                division(e, operands[1]);
                return;
            default:
                if (op_atomic(e.op)) buffer_index(operands[0], e.imm, "does nothing");
                return;
        }
    }

    void buffer_index(ExprId id, std::uint16_t number, const char* effect) {
        const Buffer& buffer = program_.buffers[number];
        if (buffer.count_kind == Buffer::Count::Literal)
            index(id, quoted(buffer.name), buffer.count, effect);
        else
            index(id, quoted(buffer.name), std::uint64_t{1} << 63, effect);
    }

    void index(ExprId id, const std::string& array, std::uint64_t count, const char* effect) {
        const Range r = range(id);
        if (!r.known) return;
        if (r.high < 0)
            say(code_.exprs[id].place,
                fmt::format("this index of {} is always negative, so that it {}", array, effect),
                "Fix: use an index from 0 up");
        else if (r.low >= static_cast<Exact>(count))
            say(code_.exprs[id].place,
                fmt::format("this index of {} is {}{}, but {} has {} element{}, so that it {}",
                            array, r.low == r.high ? "" : "at least ",
                            static_cast<std::uint64_t>(r.low), array, count, count == 1 ? "" : "s",
                            effect),
                fmt::format("Fix: use an index below {}", count));
    }

    void shift(const Expr& e, ExprId count) {
        const Range r = range(count);
        const unsigned width = e.type.bits();
        if (!r.known || r.low < width) return;
        say(code_.exprs[count].place,
            fmt::format("a shift of {} by {} shifts by {}: only the lowest {} bits count",
                        type_name(e.type), static_cast<std::uint64_t>(r.low),
                        static_cast<std::uint64_t>(r.low) % width, width == 64 ? 6 : 5),
            fmt::format("Fix: shift by less than {}", width));
    }

    void division(const Expr& e, ExprId by) {
        if (!e.type.integer()) return;
        const Range r = range(by);
        if (!r.known || r.low != 0 || r.high != 0) return;
        say(code_.exprs[by].place,
            e.op == Op::DIV ? "a division by zero gives the dividend"
                            : "a remainder of a division by zero is 0",
            "Fix: divide by another number");
    }

    // ---- statements ----

    void statement(const Stmt& s) {
        for (const ExprId e : s.args)
            if (e != kNone) tree(e);
        switch (s.op) {
            case Op::LET:
                value_[s.local] = range(s.args[0]);
                return;
            case Op::STORE:
                buffer_index(s.args[0], s.imm, "stores nothing");
                return;
            case Op::STORE_ARRAY:
                written_[s.local] = true;
                index(s.args[0], local_name(code_, s.local), code_.locals[s.local].count,
                      "stores nothing");
                return;
            case Op::ASSIGN:
            case Op::ASSIGN_COMPONENT:
                written_[s.local] = true;
                return;
            case Op::FOR:
                loop(s);
                return;
            case Op::WHILE:
                if (const std::string array = spins_on(program_, code_, s); !array.empty())
                    say(s.place,
                        fmt::format("this `while` waits for another invocation to write `{}`, "
                                    "which may not run before this one ends",
                                    array),
                        "Fix: wait with `barrier` or `grid_barrier`, or give the loop a limit");
                return;
            default:
                return;
        }
    }

    void loop(const Stmt& s) {
        const Range first = range(s.args[0]), end = range(s.args[1]);
        if (!first.known || !end.known) return;
        const bool exact = first.low == first.high && end.low == end.high;
        if (exact && first.low >= end.low) {
            const bool down = first.low > end.low;
            say(s.place,
                fmt::format("this `for` has no iterations: its first value is {}, its end {}",
                            static_cast<std::int64_t>(first.low),
                            static_cast<std::int64_t>(end.low)),
                down ? "Fix: count up, and compute the falling number from it"
                     : "Fix: give it an end above the first value");
            return;
        }
        value_[s.local] = {true, first.low, end.high - 1};
    }

    // ---- names ----

    void unused() {
        for (std::uint32_t k = 0; k < code_.locals.size(); ++k) {
            const Local& local = code_.locals[k];
            if (read_[k] || local.form == Local::Form::For || local.name.empty() ||
                local.name.starts_with('_'))
                continue;
            say(local.place,
                fmt::format("`{}` is {}", local.name,
                            written_[k] ? "assigned, but never read" : "never used"),
                fmt::format("Fix: remove it, or name it `_{}`", local.name));
        }
    }

    const Program& program_;
    std::uint32_t function_;
    const Code& code_;
    Report& report_;
    std::vector<bool> read_;
    std::vector<bool> written_;
    std::vector<Range> value_;  // of lets and loop variables
    std::vector<ExprId> open_;
};

// Finds the declarations of the head that any code or size uses.
class Uses {
  public:
    explicit Uses(const Program& program)
        : params(program.params.size()),
          buffers(program.buffers.size()),
          tables(program.tables.size()),
          functions(program.functions.size()) {
        for (const Function& f : program.functions) code(f.code);
        code(program.main);
        for (const Buffer& b : program.buffers) size(b.size);
        for (const SizeExpr& axis : program.grid.axes) size(axis);
    }

    std::vector<bool> params, buffers, tables, functions;

  private:
    void code(const Code& code) {
        for (const Expr& e : code.exprs) {
            if (e.op == Op::PARAM) params[e.imm] = true;
            if (e.op == Op::LOAD || e.op == Op::LEN || e.op == Op::LEN64 || op_atomic(e.op) ||
                e.op == Op::WORKGROUP_UNIFORM_LOAD)
                buffers[e.imm] = true;
            if (e.op == Op::LOAD_TABLE || e.op == Op::LEN_TABLE || e.op == Op::LEN64_TABLE)
                tables[e.imm] = true;
            if (e.op == Op::CALL) functions[e.imm] = true;
        }
        for (const Stmt& s : code.stmts)
            if (s.op == Op::STORE) buffers[s.imm] = true;
    }
    void size(const SizeExpr& size) {
        for (const SizeNode& node : size) {
            if (node.op == WYE_SIZE_PARAM) params[node.index] = true;
            if (node.op == WYE_SIZE_LEN) buffers[node.index] = true;
        }
    }
};

void check_head(const Program& program, Report& report) {
    const Uses uses(program);
    const auto look = [&](const auto& list, const std::vector<bool>& used, const char* what) {
        for (std::size_t k = 0; k < list.size(); ++k)
            if (!used[k] && !list[k].name.empty() && !list[k].name.starts_with('_'))
                report.head(list[k].place, quoted(list[k].name),
                            fmt::format("the {} `{}` is never used", what, list[k].name),
                            fmt::format("Fix: remove it, or name it `_{}`", list[k].name));
    };
    look(program.functions, uses.functions, "function");
    look(program.tables, uses.tables, "table");
    // Native variants may use what main does not use.
    if (!program.variants.empty()) return;
    look(program.params, uses.params, "parameter");
    look(program.buffers, uses.buffers, "buffer");
}

}  // namespace
}  // namespace detail

std::vector<Diagnostic> warnings(const Program& program) {
    Program numbered = program;
    detail::number_places(numbered);
    detail::Report report(numbered);
    detail::check_head(numbered, report);
    for (std::uint32_t k = 0; k < numbered.functions.size(); ++k)
        detail::Warner(numbered, k, numbered.functions[k].code, report).run();
    detail::Warner(numbered, kNone, numbered.main, report).run();
    std::vector<Diagnostic> list = report.take();
    for (Diagnostic& d : list) d.severity = Diagnostic::Severity::Warning;
    return list;
}

}  // namespace wye::ir
