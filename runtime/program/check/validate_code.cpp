// SPDX-License-Identifier: Apache-2.0
//
// Checks statements in their context, except types and uniformity. For programs that passed
// validate_structure.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "program/check/validator.hpp"

namespace wye::ir::detail {
namespace {

std::uint64_t add_capped(std::uint64_t a, std::uint64_t b) {
    return std::min<std::uint64_t>(a + b, std::uint64_t{1} << 60);
}

class Body {
  public:
    Body(const Program& program, std::uint32_t function, const Code& code, Report& report,
         const std::vector<std::uint64_t>& inlined, const std::vector<std::uint32_t>& deepest)
        : program_(program),
          function_(function),
          code_(code),
          report_(report),
          inlined_(inlined),
          deepest_(deepest),
          in_scope_(code.locals.size()) {}

    void run() {
        for (std::size_t k = 0; k < code_.locals.size(); ++k)
            if (code_.locals[k].form == Local::Form::Argument) in_scope_[k] = true;
        block(code_.root, true);  // the returned value may use the block's names
        if (in_function()) {
            if (code_.result == kNone)
                say({}, fmt::format("{} does not end with `return`", name()),
                    "Fix: end it with `return VALUE;`");
            else
                tree(code_.result);
        } else if (code_.result != kNone) {
            say(code_.exprs[code_.result].place, "`main` returns no value",
                "Fix: store the value in a buffer");
        }
        if (array_bytes_ > WYE_LIMIT_LOCAL_ARRAY_BYTES)
            say(array_place_,
                fmt::format("the local arrays have {} bytes together; the limit is {}",
                            array_bytes_, WYE_LIMIT_LOCAL_ARRAY_BYTES),
                "Fix: use smaller arrays, or a buffer");
    }

    std::uint64_t statements = 0;
    std::uint64_t nodes = 0;  // statements and expressions
    std::uint64_t inlined = 0;
    std::uint32_t deepest = 0;  // nesting of blocks and expressions, with calls inlined

  private:
    [[nodiscard]] bool in_function() const { return function_ != kNone; }
    [[nodiscard]] std::string name() const { return quoted(program_.functions[function_].name); }

    void say(Place place, std::string message, std::string fix) {
        report_.code(function_, place, std::move(message), std::move(fix));
    }
    void node() {
        ++nodes;
        inlined = add_capped(inlined, 1);
    }

    // ---- expressions ----

    void tree(ExprId root) {
        open_.assign(1, {root, levels_ + 1});
        while (!open_.empty()) {
            const auto [id, level] = open_.back();
            const Expr& e = code_.exprs[id];
            open_.pop_back();
            node();
            deepest = std::max(deepest, level + (e.op == Op::CALL ? deepest_[e.imm] : 0));
            for (const ExprId operand : code_.operands_of(e))
                open_.emplace_back(operand, level + 1);
            if (e.op == Op::LOCAL || e.op == Op::LOAD_ARRAY || e.op == Op::LEN_ARRAY ||
                e.op == Op::LEN64_ARRAY)
                scope(static_cast<std::uint32_t>(e.extra), e.place);
            if (e.op == Op::CALL) inlined = add_capped(inlined, inlined_[e.imm]);
            if (op_effect(e.op)) effect(e);
        }
    }

    void scope(std::uint32_t local, Place place) {
        if (!in_scope_[local])
            say(place, fmt::format("{} is used outside of its block", local_name(code_, local)),
                "Fix: declare it before the block, as a `var` if the block changes it");
    }

    void effect(const Expr& e) {
        if (in_function()) {
            say(e.place,
                fmt::format("{} has the effect `{}`; functions are pure", name(), op_text(e.op)),
                "Fix: move the effect into `main`, and pass its result");
            return;
        }
        if (op_atomic(e.op)) writable(e.imm, e.place, e.op);
        if (e.op == Op::WORKGROUP_UNIFORM_LOAD && !program_.buffers[e.imm].shared())
            say(e.place,
                fmt::format("`{}` reads `shared` arrays, but `{}` is `{}`", op_text(e.op),
                            program_.buffers[e.imm].name, role_name(program_.buffers[e.imm].role)),
                "Fix: read the element directly, or copy it to a `shared` array");
    }

    // Checks that a buffer may be written. `atomic` is the atomic operation that writes; if it is
    // empty, a store writes.
    void writable(std::uint32_t buffer, Place place, std::optional<Op> atomic) {
        const Buffer& b = program_.buffers[buffer];
        if (role_writable(b.role)) return;
        const std::string needs =
            atomic ? fmt::format("`{}` needs a writable buffer, but ", op_text(*atomic)) : "";
        say(place,
            fmt::format("{}`{}` is `{}`, which is only read", needs, b.name, role_name(b.role)),
            "Fix: declare it `input_output`, or use another buffer");
    }

    // ---- statements ----

    // Checks a block. Returns whether it ends in `break`, `continue`, `return` or `trap`.
    bool block(BlockId id, bool keep = false) {
        const std::size_t mark = declared_.size();
        deepest = std::max(deepest, ++levels_);
        bool left = false;
        bool told = false;
        const Stmt* last = nullptr;
        for (const StmtId s : code_.blocks[id]) {
            const Stmt& stmt = code_.stmts[s];
            if (left && !told) {
                told = true;
                say(stmt.place,
                    fmt::format("nothing may follow {} in its block",
                                last->op == Op::IF ? "an `if` both of whose blocks leave"
                                                   : quoted(op_text(last->op))),
                    fmt::format("Fix: remove what follows, or make the `{}` conditional",
                                op_text(last->op == Op::IF ? Op::IF : last->op)));
            }
            left = statement(stmt);
            last = &stmt;
        }
        --levels_;
        if (!keep) close(mark);
        return left;
    }

    void close(std::size_t mark) {
        for (; declared_.size() > mark; declared_.pop_back()) in_scope_[declared_.back()] = false;
    }

    void declare(std::uint32_t local) {
        in_scope_[local] = true;
        declared_.push_back(local);
    }

    // Refuses a statement in a function. `what` returns a description of what the statement does.
    template <typename What>
    void pure(const Stmt& s, What what) {
        if (in_function())
            say(s.place, fmt::format("{} {}; functions are pure and always end", name(), what()),
                "Fix: do this in `main`");
    }

    bool statement(const Stmt& s) {
        ++statements;
        node();
        for (const ExprId e : s.args)
            if (e != kNone) tree(e);
        switch (s.op) {
            case Op::LET:
            case Op::VAR:
            case Op::VAR_ZERO:
                declare(s.local);
                return false;
            case Op::VAR_ARRAY:
                declare(s.local);
                array_bytes_ += code_.locals[s.local].count *
                                private_bytes(type_from_code(s.imm).value_or(kU32));
                if (array_bytes_ > WYE_LIMIT_LOCAL_ARRAY_BYTES && array_place_ == Place{})
                    array_place_ = s.place;
                return false;
            case Op::ASSIGN:
            case Op::ASSIGN_COMPONENT:
                scope(s.local, s.place);
                assignable(s);
                return false;
            case Op::STORE:
                pure(s,
                     [&] { return fmt::format("stores to `{}`", program_.buffers[s.imm].name); });
                if (!in_function()) writable(s.imm, s.place, std::nullopt);
                return false;
            case Op::STORE_ARRAY:
                scope(s.local, s.place);
                return false;
            case Op::IF: {
                const bool body = block(s.body);
                const bool otherwise = block(s.otherwise);
                return body && otherwise;
            }
            case Op::FOR:
            case Op::WHILE:
                loop(s);
                return false;
            case Op::BREAK:
            case Op::CONTINUE:
                if (loops_ == 0)
                    say(s.place, fmt::format("`{}` is outside of a loop", op_text(s.op)),
                        in_function() ? "Fix: remove it" : "Fix: remove it, or write `return`");
                return true;
            case Op::RETURN:
                if (in_function())
                    say(s.place, fmt::format("{} has a second `return`", name()),
                        "Fix: assign the value to a `var`, and return that at the end");
                return true;
            case Op::TRAP:
                pure(s, [] { return "traps"; });
                return true;
            case Op::BARRIER:
            case Op::GRID_BARRIER:
                pure(s, [&] { return fmt::format("has a `{}`", op_text(s.op)); });
                return false;
            default:
                return false;
        }
    }

    void loop(const Stmt& s) {
        if (s.op == Op::WHILE) pure(s, [] { return "has a `while`"; });
        const std::size_t mark = declared_.size();
        if (s.op == Op::FOR) declare(s.local);
        ++loops_;
        block(s.body);
        --loops_;
        close(mark);
    }

    void assignable(const Stmt& s) {
        const Local& local = code_.locals[s.local];
        // The typing rules refuse assignment to a whole array.
        if (local.form == Local::Form::Var || local.form == Local::Form::Array) return;
        const std::string shown = local_name(code_, s.local);
        const std::string declared =
            local.place.line == 0 ? "" : fmt::format(" (declared {})", Report::at(local.place));
        switch (local.form) {
            case Local::Form::Let:
                return say(
                    s.place,
                    fmt::format("{} is a `let`{}, which cannot be assigned", shown, declared),
                    "Fix: declare it with `var`");
            case Local::Form::For:
                return say(s.place,
                           fmt::format("{} is a loop variable{}, which cannot be assigned", shown,
                                       declared),
                           "Fix: use a `while` loop with a `var`, or a copy of it");
            case Local::Form::Argument:
                return say(s.place,
                           fmt::format("{} is an argument, which cannot be assigned", shown),
                           "Fix: copy it to a `var` first");
            case Local::Form::Var:
            case Local::Form::Array:
                return;
        }
    }

    const Program& program_;
    std::uint32_t function_;
    const Code& code_;
    Report& report_;
    const std::vector<std::uint64_t>& inlined_;
    const std::vector<std::uint32_t>& deepest_;
    std::vector<bool> in_scope_;
    std::vector<std::uint32_t> declared_;
    std::vector<std::pair<ExprId, std::uint32_t>> open_;  // expressions to visit, with their levels
    std::uint32_t levels_ = 0;                            // blocks that are open
    unsigned loops_ = 0;
    std::uint64_t array_bytes_ = 0;
    Place array_place_;
};

}  // namespace

void check_code(const Program& program, Report& report) {
    std::uint64_t statements = 0;
    std::uint64_t nodes = 0;
    // The number of nodes of each function with its calls inlined. Callees precede their callers.
    std::vector<std::uint64_t> inlined;
    std::vector<std::uint32_t> deepest;
    const auto over = [&](std::uint32_t function, const std::string& what, std::uint64_t value,
                          std::uint64_t most) {
        report.code(function, {},
                    fmt::format("there are {} {}; the limit is {}", value, what, most),
                    "Fix: use loops, or call less deeply");
    };
    const auto body = [&](std::uint32_t function, const Code& code) {
        Body walk(program, function, code, report, inlined, deepest);
        walk.run();
        statements += walk.statements;
        nodes += walk.nodes;
        if (const std::uint64_t added = walk.inlined - walk.nodes; added > WYE_LIMIT_INLINED_NODES)
            over(function, "nodes in the functions called, with all calls inlined", added,
                 WYE_LIMIT_INLINED_NODES);
        else if (walk.inlined > WYE_LIMIT_NODES && walk.nodes <= WYE_LIMIT_NODES)
            over(function, "nodes with all calls inlined", walk.inlined, WYE_LIMIT_NODES);
        inlined.push_back(walk.inlined);
        const bool too_deep = walk.deepest > WYE_LIMIT_NESTING;
        if (too_deep)
            over(function, "levels of calls, blocks and operations inside each other", walk.deepest,
                 WYE_LIMIT_NESTING);
        deepest.push_back(too_deep ? 0 : walk.deepest);  // so that callers do not report it again
    };
    for (std::uint32_t k = 0; k < program.functions.size(); ++k) body(k, program.functions[k].code);
    body(kNone, program.main);
    if (statements > WYE_LIMIT_STATEMENTS)
        over(kNone, "statements in the program", statements, WYE_LIMIT_STATEMENTS);
    if (nodes > WYE_LIMIT_NODES) over(kNone, "nodes in the program", nodes, WYE_LIMIT_NODES);
}

}  // namespace wye::ir::detail
