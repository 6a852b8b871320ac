// SPDX-License-Identifier: Apache-2.0
//
// Parses statements and blocks.
#include <fmt/core.h>

#include "program/text/parser.hpp"
#include "wye/sdk/typing.hpp"

namespace wye::ir::detail {

StmtId Parser::add(std::vector<StmtId>& into, Stmt stmt) {
    const auto id = static_cast<StmtId>(code_->stmts.size());
    code_->stmts.push_back(stmt);
    into.push_back(id);
    return id;
}

std::uint32_t Parser::add_local(const Token& name, Local local) {
    local.name = name.text;
    local.place = name.place;
    code_->locals.push_back(std::move(local));
    const std::size_t index = code_->locals.size() - 1;
    if (phase_of_.size() <= index) phase_of_.resize(index + 1);
    phase_of_[index] = phase_;
    declare(name, Symbol::Kind::Local, index);
    return static_cast<std::uint32_t>(index);
}

// "{" { stmt } "}". Returns kNone if the `{` is missing.
BlockId Parser::block(unsigned nesting) {
    if (nesting > WYE_LIMIT_BLOCK_NESTING) {
        error(token_.place,
              fmt::format("blocks are nested deeper than {}", WYE_LIMIT_BLOCK_NESTING),
              "Fix: move inner parts into functions, or join conditions with `&&`");
        skip_to_end(false);
        return kNone;
    }
    const Place begin = token_.place;
    if (!token_.is(Tok::LeftBrace)) {
        const bool next = starts_line();
        error(next ? last_.end : token_.place,
              fmt::format("expected `{{` before the block{}",
                          next ? std::string() : ", found " + describe(token_)),
              token_.is(Tok::Assign) ? "Fix: write `==` to compare"
                                     : "Fix: put the block between `{` and `}`");
        // Parses one statement without braces, as in `if (x) y = 1;`.
        std::vector<StmtId> ids;
        const std::size_t mark = local_names_.size();
        const bool good =
            (last_.is(Tok::RightParen) || token_.tok == Tok::Keyword) && statement(ids, nesting);
        close_scope(mark);
        if (!good) return kNone;
        code_->blocks.push_back(std::move(ids));
        return static_cast<BlockId>(code_->blocks.size() - 1);
    }
    take();
    const auto id = static_cast<BlockId>(code_->blocks.size());
    code_->blocks.emplace_back();
    const std::size_t mark = local_names_.size();
    std::vector<StmtId> ids;
    statements(ids, nesting, false);
    code_->blocks[id] = std::move(ids);
    close_scope(mark);
    if (token_.is(Tok::RightBrace)) {
        take();
    } else if (!errors_.full()) {
        error(token_.place,
              fmt::format("expected `}}` for the block that begins at {}:{}, found {}", begin.line,
                          begin.column, describe(token_)),
              token_.is(Key::FN) ? "Fix: close the block with `}`; a function stands above `main`"
                                 : "Fix: close the block with `}`");
        // After unbalanced braces, further reports would be useless.
        while (!token_.is(Tok::End)) take();
    }
    return id;
}

// Parses statements up to the `}`, the end, or (at the top level of a function) the `return`.
void Parser::statements(std::vector<StmtId>& into, unsigned nesting, bool function) {
    while (!token_.is(Tok::RightBrace) && !token_.is(Tok::End) && !errors_.full()) {
        if (function && token_.is(Key::RETURN)) return;
        if (token_.is(Key::MAIN) || token_.is(Key::FN)) return;  // a `}` is missing
        if (code_->stmts.size() >= WYE_LIMIT_STATEMENTS) {
            error(token_.place,
                  fmt::format("there are more than {} statements", WYE_LIMIT_STATEMENTS),
                  "Fix: use loops or functions");
            while (!token_.is(Tok::End)) take();
            return;
        }
        if (!statement(into, nesting)) skip_to_end(false);
    }
}

bool Parser::statement(std::vector<StmtId>& into, unsigned nesting) {
    if (const std::optional<bool> done = foreign_statement(into, nesting)) return *done;
    if (token_.is(Tok::Name)) return assignment(into);
    if (token_.is(Tok::Effect)) {
        Stmt stmt;
        stmt.op = Op::EFFECT;
        stmt.place = token_.place;
        stmt.args[0] = effect();
        if (stmt.args[0] == kNone) return false;
        add(into, stmt);
        return expect_semicolon("the statement");
    }
    if (token_.is(Tok::Keyword)) {
        switch (static_cast<Key>(token_.code)) {
            case Key::LET:
                return let(into);
            case Key::VAR:
                return var(into);
            case Key::IF:
                return branch(into, nesting);
            case Key::FOR:
                return for_loop(into, nesting);
            case Key::WHILE:
                return while_loop(into, nesting);
            case Key::BREAK:
            case Key::CONTINUE:
            case Key::RETURN:
            case Key::BARRIER:
            case Key::GRID_BARRIER:
            case Key::TRAP:
                return leave(into);
            case Key::ELSE:
                error(token_.place, "`else` without `if`",
                      "Fix: put it directly after the block of an `if`");
                return false;
            case Key::CONST:
            case Key::PARAM:
            case Key::TABLE:
            case Key::GRID:
                error(token_.place,
                      fmt::format("{} must be above `main`, not inside a block", describe(token_)),
                      "Fix: move it up, or write `let`");
                return head();  // parses the declaration, so that its name is known
            default:
                break;
        }
    }
    if (token_.is(Tok::Semicolon)) {
        error(token_.place, "there is no empty statement", "Fix: remove this `;`");
        take();
        return true;
    }
    if (token_.is(Tok::LeftBrace)) {
        error(token_.place, "a block is allowed only after `if`, `else`, `for` and `while`",
              "Fix: remove the braces");
        return false;
    }
    if (token_.is(Tok::Type)) {
        error(token_.place, "a declaration begins with `let` or `var`, not with its type",
              fmt::format("Fix: write `let NAME: {} = ...;`", token_.text));
        return false;
    }
    if (token_.is(Tok::Function) || token_.is(Tok::Builtin) || token_.is(Tok::Number)) {
        error(token_.place, "an expression is not a statement: its value would be lost",
              "Fix: bind it, as in `let v = ...;`, or remove it");
        return false;
    }
    unexpected("a statement", "Fix: write `let`, `var`, an assignment, `if`, `for` or the like");
    return false;
}

// effect | expr
ExprId Parser::value() {
    if (!token_.is(Tok::Effect)) return expression();
    const Token at = token_;
    const ExprId id = effect();
    if (id != kNone && (token_.is(Tok::Operator) || token_.is(Tok::Dot))) {
        error(at.place,
              fmt::format("{} is an effect, which cannot be part of an expression", describe(at)),
              fmt::format("Fix: bind it first, as in `let old = {}(...);`", at.text));
        return kNone;
    }
    return id;
}

void Parser::check_annotation(const Token& name, Type wanted, ExprId value) {
    const Type got = type_of(value);
    if (wanted.none() || got.none() || got == wanted) return;
    error(code_->exprs[value].place,
          fmt::format("{} is declared {}, but its value is {}", describe(name), type_name(wanted),
                      type_name(got)),
          conversion_fix(*code_, value, got, wanted));
}

bool Parser::let(std::vector<StmtId>& into) {
    Stmt stmt;
    stmt.op = Op::LET;
    stmt.place = token_.place;
    take();
    Token given;
    Type wanted;
    if (token_.is(Tok::Name) && token_.text == "mut" && peek().is(Tok::Name)) {
        error(token_.place, "a `let` does not change",
              fmt::format("Fix: write `var {} = ...;`", peek().text));
        take();
    }
    if (!name("a name", given)) return false;
    bool good = true;
    if (token_.is(Tok::Colon)) {
        take();
        good = type(wanted);
    }
    if (good && token_.is(Tok::Semicolon)) {
        error(
            token_.place, "a `let` has a value",
            fmt::format("Fix: write `let {} = ...;`, or `var {}: TYPE;`", given.text, given.text));
        good = false;
    } else {
        good = good && expect(Tok::Assign, "=", "and a value");
    }
    if (good) {
        stmt.args[0] = value();
        good = stmt.args[0] != kNone;
    }
    // The name is declared in any case, so that its uses below are not reported.
    if (good) check_annotation(given, wanted, stmt.args[0]);
    stmt.local =
        add_local(given, {Local::Form::Let, good ? type_of(stmt.args[0]) : Type{}, 0, {}, {}});
    if (good) add(into, stmt);
    return good && expect_semicolon("the value");
}

bool Parser::var(std::vector<StmtId>& into) {
    Stmt stmt;
    stmt.op = Op::VAR;
    stmt.place = token_.place;
    take();
    Token given;
    if (token_.is(Op::LT)) {  // `var<private> q`
        error(token_.place, "a `var` has no address space",
              "Fix: write `var NAME = ...;`; a `shared` array is declared above `main`");
        while (!token_.is(Op::GT) && !token_.is(Tok::Semicolon) && !token_.is(Tok::End)) take();
        if (token_.is(Op::GT)) take();
    }
    if (!name("a name", given)) return false;
    Local local{Local::Form::Var, {}, 0, {}, {}};
    Type wanted;
    bool good = true;
    bool typed = false;
    if (token_.is(Tok::Colon)) {
        take();
        typed = true;
        good = type(wanted);
    }
    if (good && typed && token_.is(Tok::LeftBracket)) {
        take();
        const Place place = token_.place;
        std::uint64_t count = 1;
        good = num("the array's count", count) && expect(Tok::RightBracket, "]", "after the count");
        if (good && (count == 0 || count > WYE_LIMIT_LOCAL_ARRAY_BYTES)) {
            error(place,
                  fmt::format("{} has {} elements; local arrays have at least 1, and at most {} "
                              "bytes together",
                              describe(given), count, WYE_LIMIT_LOCAL_ARRAY_BYTES),
                  "Fix: change the count, or use a buffer");
            count = 1;
        }
        stmt.op = Op::VAR_ARRAY;
        stmt.imm = wanted.code();
        local = {Local::Form::Array, wanted, static_cast<std::uint32_t>(count), {}, {}};
        if (good && token_.is(Tok::Assign)) {
            error(token_.place, "an array starts at zero and takes no value",
                  "Fix: remove the value, and store the elements");
            good = false;
        }
    } else if (good && typed && !token_.is(Tok::Assign)) {
        stmt.op = Op::VAR_ZERO;
        stmt.imm = wanted.code();
        local.type = wanted;
    } else if (good && token_.is(Tok::Semicolon)) {
        error(token_.place, "a `var` has a value or a type",
              fmt::format("Fix: write `var {0} = ...;`, or `var {0}: TYPE;`", given.text));
        good = false;
    } else if (good) {
        good = expect(Tok::Assign, "=", "and a value, or `:` and a type");
        if (good) {
            stmt.args[0] = value();
            good = stmt.args[0] != kNone;
        }
        if (good) {
            check_annotation(given, wanted, stmt.args[0]);
            local.type = type_of(stmt.args[0]);
        }
    }
    stmt.local = add_local(given, std::move(local));
    if (good) add(into, stmt);
    return good && expect_semicolon("the declaration");
}

bool Parser::branch(std::vector<StmtId>& into, unsigned nesting) {
    Stmt stmt;
    stmt.op = Op::IF;
    stmt.place = token_.place;
    take();
    stmt.args[0] = expression();
    if (stmt.args[0] == kNone && !token_.is(Tok::LeftBrace)) return false;
    stmt.body = block(nesting + 1);
    if (stmt.body == kNone) return false;
    if (token_.is(Key::ELSE)) {
        take();
        if (token_.is(Key::IF)) {
            // `else if` is an else block that holds one `if`.
            if (nesting + 1 > WYE_LIMIT_BLOCK_NESTING) {
                error(token_.place,
                      fmt::format("blocks are nested deeper than {}; each `else if` is one level",
                                  WYE_LIMIT_BLOCK_NESTING),
                      "Fix: split the chain, or look the answer up in a table");
                return false;
            }
            stmt.otherwise = static_cast<BlockId>(code_->blocks.size());
            code_->blocks.emplace_back();
            std::vector<StmtId> ids;
            const bool good = branch(ids, nesting + 1);
            code_->blocks[stmt.otherwise] = std::move(ids);
            if (!good) return false;
        } else {
            stmt.otherwise = block(nesting + 1);
            if (stmt.otherwise == kNone) return false;
        }
    } else {
        stmt.otherwise = static_cast<BlockId>(code_->blocks.size());
        code_->blocks.emplace_back();
    }
    add(into, stmt);
    return true;
}

bool Parser::for_loop(std::vector<StmtId>& into, unsigned nesting) {
    Stmt stmt;
    stmt.op = Op::FOR;
    stmt.place = token_.place;
    take();
    if (token_.is(Tok::LeftParen)) return c_for(into, nesting);
    Token given;
    if (!name("the loop variable's name", given)) return false;
    bool good = token_.is(Key::IN);
    if (good)
        take();
    else
        unexpected("`in`", "Fix: write `for NAME in FIRST..END { ... }`");
    bool counted = true;  // whether the range is understood
    if (good) {
        counted = !(token_.is(Tok::Name) && token_.text == "range" && find("range") == nullptr);
        stmt.args[0] = expression();
        good =
            stmt.args[0] != kNone && counted && expect(Tok::DotDot, "..", "after the first value");
    }
    if (good && token_.is(Tok::Assign)) {
        error(token_.place, "a range ends before its end", "Fix: write `FIRST..LAST + 1`");
        take();
    }
    if (good) {
        stmt.args[1] = expression();
        good = stmt.args[1] != kNone;
    }
    if (good && token_.is(Key::STEP)) {
        take();
        stmt.args[2] = expression();
        good = stmt.args[2] != kNone;
    } else if (good) {
        const Type first = type_of(stmt.args[0]);
        const Type step = first.integer() && first.scalar() ? first : kI32;
        stmt.args[2] = literal_node({step, 1, {}, {}}, stmt.place);
    }
    if (!good && !token_.is(Tok::LeftBrace)) return false;
    const std::size_t mark = local_names_.size();
    const Type type = good ? type_of(stmt.args[0]) : Type{};
    stmt.local = add_local(given, {Local::Form::For, type, 0, {}, {}});
    stmt.body = block(nesting + 1);
    close_scope(mark);
    if (stmt.body == kNone) return false;
    if (good) add(into, stmt);
    return true;
}

bool Parser::while_loop(std::vector<StmtId>& into, unsigned nesting) {
    Stmt stmt;
    stmt.op = Op::WHILE;
    stmt.place = token_.place;
    take();
    stmt.args[0] = expression();
    if (stmt.args[0] == kNone && !token_.is(Tok::LeftBrace)) return false;
    stmt.body = block(nesting + 1);
    if (stmt.body == kNone) return false;
    add(into, stmt);
    return true;
}

// Parses `break`, `continue`, `return`, barriers and `trap`.
bool Parser::leave(std::vector<StmtId>& into) {
    Stmt stmt;
    stmt.place = token_.place;
    const Token at = token_;
    take();
    switch (static_cast<Key>(at.code)) {
        case Key::BREAK:
            stmt.op = Op::BREAK;
            break;
        case Key::CONTINUE:
            stmt.op = Op::CONTINUE;
            break;
        case Key::RETURN:
            stmt.op = Op::RETURN;
            if (in_function_) {
                error(at.place, "a function has one `return`, at its end",
                      "Fix: assign the value to a `var`, and return that at the end");
                return false;
            }
            if (!token_.is(Tok::Semicolon) && !starts_line() && !token_.is(Tok::RightBrace)) {
                error(token_.place, "`main` returns no value",
                      "Fix: store the value in a buffer, then write `return;`");
                return false;
            }
            break;
        case Key::BARRIER:
            stmt.op = Op::BARRIER;
            break;
        case Key::GRID_BARRIER:
            stmt.op = Op::GRID_BARRIER;
            ++phase_;
            break;
        default: {
            stmt.op = Op::TRAP;
            const Place place = token_.place;
            std::uint64_t trap_code = 1;
            if (!num("the trap's code", trap_code)) return false;
            if (trap_code == 0 || trap_code > 65535) {
                error(place, fmt::format("the trap's code is {}, outside of 1 to 65535", trap_code),
                      "Fix: write a code in that range");
                trap_code = 1;
            }
            stmt.imm = static_cast<std::uint16_t>(trap_code);
            break;
        }
    }
    if (token_.is(Tok::LeftParen)) {
        error(token_.place, fmt::format("{} takes no arguments", describe(at)),
              fmt::format("Fix: write `{};`", at.text));
        skip_group();
    }
    add(into, stmt);
    return expect_semicolon(describe(at));
}

}  // namespace wye::ir::detail
