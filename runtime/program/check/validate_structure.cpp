// SPDX-License-Identifier: Apache-2.0
//
// Checks that a body is a tree of known nodes with indices in range and bounded depth. Programs
// from the parser and the wire reader always pass; those built in memory may not. No recursion
// happens before the depth is checked.
#include <fmt/core.h>

#include "program/check/validator.hpp"
#include "program/text/literal.hpp"

namespace wye::ir::detail {
namespace {

class Structure {
  public:
    Structure(const Program& program, std::uint32_t function, const Code& code, Report& report)
        : program_(program), function_(function), code_(code), report_(report) {}

    bool run(std::uint32_t arguments) {
        if (code_.locals.size() > WYE_LIMIT_LOCALS)
            return say({},
                       fmt::format("it has {} locals; the limit is {}", code_.locals.size(),
                                   WYE_LIMIT_LOCALS),
                       "Fix: move parts into functions");
        for (std::size_t k = 0; k < code_.locals.size(); ++k)
            if ((code_.locals[k].form == Local::Form::Argument) != (k < arguments))
                return say({}, fmt::format("local {} and the argument count disagree", k),
                           "Fix: put the arguments first");
        if (arguments > code_.locals.size())
            return say({}, "its arguments are not among its locals", "Fix: declare them");
        next_local_ = arguments;
        if (!expressions()) return false;
        stmt_used_.resize(code_.stmts.size());
        block_used_.resize(code_.blocks.size());
        if (!block(code_.root, 1)) return false;
        if (code_.result != kNone && !use(code_.result, {}, false)) return false;
        if (next_local_ != code_.locals.size())
            return say({}, "a local is never declared", "Fix: declare locals in text order");
        return true;
    }

  private:
    bool say(Place place, std::string message, std::string fix) {
        report_.code(function_, place, std::move(message), std::move(fix));
        return false;
    }
    bool range(const Expr& e, std::uint64_t index, std::uint64_t count, const char* what) {
        return index < count || say(e.place,
                                    fmt::format("`{}` names {} {}, which does not exist",
                                                op_text(e.op), what, index),
                                    "Fix: use one that is declared");
    }

    // ---- expressions: operands have smaller ids, so one pass sees them first ----

    bool expressions() {
        depth_.resize(code_.exprs.size());
        used_.resize(code_.exprs.size());
        for (ExprId id = 0; id < code_.exprs.size(); ++id)
            if (!expression(id)) return false;
        return true;
    }

    bool expression(ExprId id) {
        const Expr& e = code_.exprs[id];
        const auto code = static_cast<std::uint32_t>(e.op);
        if (!op_known(code) || op_statement(e.op))
            return say(e.place, fmt::format("opcode {} is not an expression", code),
                       "Fix: use an operation of this version");
        if (e.first > code_.operands.size() || e.count > code_.operands.size() - e.first)
            return say(e.place, fmt::format("`{}` has operands out of range", op_text(e.op)),
                       "Fix: build the program again");
        unsigned depth = 0;
        for (const ExprId operand : code_.operands_of(e)) {
            if (operand >= id)
                return say(e.place, fmt::format("`{}` comes before its operand", op_text(e.op)),
                           "Fix: make operands first");
            if (!use(operand, e.place, false)) return false;
            depth = std::max<unsigned>(depth, depth_[operand]);
        }
        if (++depth > WYE_LIMIT_EXPRESSION_DEPTH)
            return say(e.place,
                       fmt::format("an expression is deeper than {} operations",
                                   WYE_LIMIT_EXPRESSION_DEPTH),
                       "Fix: name a part of it with `let`");
        depth_[id] = static_cast<std::uint8_t>(depth);
        return immediate(e) && arity(e);
    }

    bool arity(const Expr& e) {
        std::uint32_t wanted = 0;
        if (e.op == Op::CALL)
            wanted = program_.functions[e.imm].arguments;
        else if (e.op == Op::CONSTRUCT)
            wanted = type_from_code(e.imm).value_or(Type{}).lanes;
        else
            wanted = static_cast<std::uint32_t>(op_operands(e.op));
        return e.count == wanted ||
               say(e.place,
                   fmt::format("`{}` takes {} operands, got {}", op_text(e.op), wanted, e.count),
                   "Fix: give it as many operands as it takes");
    }

    bool literal(const Expr& e) {
        const Type t = type_from_code(e.imm).value_or(Type{});
        if (t.none() || !t.scalar() || t.storage())
            return say(e.place, fmt::format("a literal has type {}", type_name(t)),
                       "Fix: use a scalar type");
        const unsigned bits = t.bits();
        if ((bits < 64 && e.extra >> bits != 0) ||
            (is_nan(t, e.extra) && e.extra != canonical_nan(t)))
            return say(e.place,
                       fmt::format("the bits of a {} literal are not canonical", type_name(t)),
                       "Fix: clear unused bits, and use the canonical NaN");
        return true;
    }

    bool immediate(const Expr& e) {
        switch (e.op) {
            case Op::LITERAL:
                return literal(e);
            case Op::PARAM:
                return range(e, e.imm, program_.params.size(), "parameter");
            case Op::LOCAL:
            case Op::LEN_ARRAY:
            case Op::LEN64_ARRAY:
            case Op::LOAD_ARRAY:
                return range(e, e.extra, code_.locals.size(), "local");
            case Op::BUILTIN:
                return range(e, e.imm, WYE_BUILTIN_COUNT, "built-in value");
            case Op::LEN_TABLE:
            case Op::LEN64_TABLE:
            case Op::LOAD_TABLE:
                return range(e, e.imm, program_.tables.size(), "table");
            case Op::CALL:
                return range(e, e.imm, program_.functions.size(), "function") && above(e);
            case Op::CONSTRUCT:
            case Op::SPLAT:
            case Op::CONVERT:
            case Op::BITCAST: {
                const std::optional<Type> t = type_from_code(e.imm);
                const bool vector = e.op == Op::CONSTRUCT || e.op == Op::SPLAT;
                return (t && (!vector || !t->scalar())) ||
                       say(e.place, fmt::format("`{}` has the type code {}", op_text(e.op), e.imm),
                           "Fix: use a type that it can give");
            }
            case Op::COMPONENT:
                return range(e, e.imm, 4, "component");
            case Op::LEN:
            case Op::LEN64:
            case Op::LOAD:
                return range(e, e.imm, program_.buffers.size(), "buffer");
            default:
                break;
        }
        if (op_atomic(e.op) || e.op == Op::WORKGROUP_UNIFORM_LOAD)
            return range(e, e.imm, program_.buffers.size(), "buffer");
        return e.imm == 0 || say(e.place, fmt::format("`{}` has an immediate", op_text(e.op)),
                                 "Fix: set it to 0");
    }

    bool above(const Expr& e) {
        return function_ == kNone || e.imm < function_ ||
               say(e.place,
                   fmt::format("`{}` calls `{}`, which is not above it",
                               program_.functions[function_].name, program_.functions[e.imm].name),
                   "Fix: order functions so that each calls only those above");
    }

    // Checks that expressions form a tree, so each is used once, and that only statements use
    // effects.
    bool use(ExprId id, Place place, bool effect_allowed) {
        if (id >= code_.exprs.size())
            return say(place, "an operand does not exist", "Fix: build the program again");
        const Expr& e = code_.exprs[id];
        if (op_effect(e.op) && !effect_allowed)
            return say(e.place,
                       fmt::format("`{}` is an effect inside an expression", op_text(e.op)),
                       "Fix: bind its result with `let` first");
        if (used_[id])
            return say(e.place, "an expression is used twice", "Fix: bind it with `let`");
        used_[id] = true;
        return true;
    }

    // ---- statements ----

    bool block(BlockId id, unsigned nesting) {
        if (id >= code_.blocks.size() || block_used_[id])
            return say({}, "a block is missing or used twice", "Fix: build the program again");
        block_used_[id] = true;
        if (nesting > WYE_LIMIT_BLOCK_NESTING) {
            const Place place =
                code_.blocks[id].empty() || code_.blocks[id][0] >= code_.stmts.size()
                    ? Place{}
                    : code_.stmts[code_.blocks[id][0]].place;
            return say(place,
                       fmt::format("blocks are nested deeper than {}", WYE_LIMIT_BLOCK_NESTING),
                       "Fix: move inner parts into functions, or join conditions with `&&`");
        }
        for (const StmtId s : code_.blocks[id]) {
            if (s >= code_.stmts.size() || stmt_used_[s])
                return say({}, "a statement is missing or used twice",
                           "Fix: build the program again");
            stmt_used_[s] = true;
            if (!statement(code_.stmts[s], nesting)) return false;
        }
        return true;
    }

    bool declares(const Stmt& s, Local::Form form) {
        if (s.local != next_local_ || s.local >= code_.locals.size() ||
            code_.locals[s.local].form != form)
            return say(s.place, "a declaration and its local disagree",
                       "Fix: number locals densely in text order");
        ++next_local_;
        return true;
    }

    bool target(const Stmt& s) {
        return s.local < code_.locals.size() ||
               say(s.place, "an assignment names a local that does not exist",
                   "Fix: declare it above");
    }

    bool statement(const Stmt& s, unsigned nesting) {
        const auto value = [&](std::size_t k) { return use(s.args[k], s.place, true); };
        const auto plain = [&](std::size_t k) { return use(s.args[k], s.place, false); };
        switch (s.op) {
            case Op::LET:
                return value(0) && declares(s, Local::Form::Let);
            case Op::VAR:
                return value(0) && declares(s, Local::Form::Var);
            case Op::VAR_ZERO:
                return type_from_code(s.imm).has_value()
                           ? declares(s, Local::Form::Var)
                           : say(s.place, "a `var` has no type", "Fix: give it a value type");
            case Op::VAR_ARRAY:
                if (!declares(s, Local::Form::Array)) return false;
                return (type_from_code(s.imm).has_value() && code_.locals[s.local].count > 0) ||
                       say(s.place, "an array has no type or no elements",
                           "Fix: give it a type, and a count of 1 or more");
            case Op::ASSIGN:
                return target(s) && value(0);
            case Op::ASSIGN_COMPONENT:
                return target(s) && value(0) &&
                       (s.imm < 4 || say(s.place, "a component number is above 3",
                                         "Fix: use 0 to 3 for x to w"));
            case Op::STORE:
                return plain(0) && value(1) &&
                       (s.imm < program_.buffers.size() ||
                        say(s.place, "a store names a buffer that does not exist",
                            "Fix: declare it"));
            case Op::STORE_ARRAY:
                return target(s) && plain(0) && value(1);
            case Op::EFFECT:
                return value(0) &&
                       (op_effect(code_.exprs[s.args[0]].op) ||
                        say(s.place, "an expression is not a statement", "Fix: bind its value"));
            case Op::IF:
                return plain(0) && block(s.body, nesting + 1) && block(s.otherwise, nesting + 1);
            case Op::WHILE:
                return plain(0) && block(s.body, nesting + 1);
            case Op::FOR:
                return plain(0) && plain(1) && plain(2) && declares(s, Local::Form::For) &&
                       block(s.body, nesting + 1);
            case Op::TRAP:
                return s.imm != 0 || say(s.place, "the trap's code is 0, outside of 1 to 65535",
                                         "Fix: write a code in that range");
            case Op::BREAK:
            case Op::CONTINUE:
            case Op::RETURN:
            case Op::BARRIER:
            case Op::GRID_BARRIER:
                return true;
            default:
                return say(s.place,
                           fmt::format("opcode {} is not a statement", static_cast<unsigned>(s.op)),
                           "Fix: use a statement of this version");
        }
    }

    const Program& program_;
    std::uint32_t function_;
    const Code& code_;
    Report& report_;
    std::vector<std::uint8_t> depth_;
    std::vector<bool> used_;
    std::vector<bool> stmt_used_;
    std::vector<bool> block_used_;
    std::uint32_t next_local_ = 0;
};

bool fitting_heads(const Program& program, Report& report) {
    // Indices have 16 bits; the walks below rely on that.
    constexpr std::size_t kIndexable = 65536;
    if (program.params.size() <= kIndexable && program.buffers.size() <= kIndexable &&
        program.tables.size() <= kIndexable && program.functions.size() <= kIndexable)
        return true;
    report.head({}, "program", "there are more than 65536 declarations of one kind",
                "Fix: use fewer");
    return false;
}

}  // namespace

bool check_structure(const Program& program, Report& report) {
    if (!fitting_heads(program, report)) return false;
    bool sound = true;
    for (std::uint32_t k = 0; k < program.functions.size(); ++k) {
        const Function& f = program.functions[k];
        sound = Structure(program, k, f.code, report).run(f.arguments) && sound;
    }
    return Structure(program, kNone, program.main, report).run(0) && sound;
}

}  // namespace wye::ir::detail
