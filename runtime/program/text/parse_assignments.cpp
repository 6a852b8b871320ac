// SPDX-License-Identifier: Apache-2.0
//
// Parses assignments to variables, components and elements.
#include <fmt/core.h>

#include "program/text/parser.hpp"

namespace wye::ir::detail {

bool Parser::assignment(std::vector<StmtId>& into) {
    const Token target = token_;
    Stmt stmt;
    stmt.place = target.place;
    take();
    const Symbol* found = find(target.text);
    const Symbol symbol = found != nullptr ? *found : Symbol{};
    if (found == nullptr && token_.is(Tok::Colon)) {  // `q := 3`, `q: f32 = 3.0`, or a label
        const bool label =
            !peek().is(Tok::Assign) && !peek().is(Tok::Type) && foreign_type(peek().text).none();
        error(target.place,
              label ? "there are no labels" : "a declaration begins with `let` or `var`",
              label
                  ? "Fix: use loops with `break` and `continue`"
                  : fmt::format("Fix: write `let {} = ...;`, or `var` if it changes", target.text));
        if (!label) add_local(target, {Local::Form::Var, {}, 0, {}, {}});
        return false;
    }
    if (found == nullptr && !token_.is(Tok::LeftParen)) {
        if (!token_.is(Tok::Assign) && !token_.is(Tok::OpAssign) && !token_.is(Tok::LeftBracket) &&
            !token_.is(Tok::Dot) && !doubled(Op::ADD) && !doubled(Op::SUB)) {
            error(target.place, fmt::format("no statement begins with {}", describe(target)),
                  "Fix: write `let`, `var`, an assignment, `if`, `for` or the like");
            return false;
        }
        unknown(target, "name");
    }
    ExprId index = kNone;
    int lane = -1;
    if (token_.is(Tok::LeftBracket)) {
        take();
        index = expression();
        if (index == kNone || !expect(Tok::RightBracket, "]", "after the index")) return false;
        if (token_.is(Tok::Dot)) {
            error(token_.place, "an array store writes a whole element, not one component",
                  "Fix: build the whole vector, and store that");
            return false;
        }
    } else if (token_.is(Tok::Dot)) {
        std::uint16_t picked = 0;
        if (!component(picked)) return false;
        lane = picked;
    } else if (token_.is(Tok::LeftParen)) {
        if (found == nullptr) {
            unknown(target, "effect");
        } else {
            error(target.place, "a call is not a statement: its value would be lost",
                  fmt::format("Fix: bind it, as in `let v = {}(...);`", target.text));
        }
        return false;
    }
    const Token op = token_;
    if (token_.is(Tok::Assign)) {
        take();
        const ExprId id = value();
        if (id == kNone) return false;
        if (found != nullptr && assign_to(stmt, target, symbol, index, lane)) {
            stmt.args[index == kNone ? 0 : 1] = id;
            add(into, stmt);
        }
        return expect_semicolon("the assignment");
    }
    if (token_.is(Tok::OpAssign)) {
        const std::string element = source(target.text);
        take();
        const std::string_view amount = token_.text;
        const ExprId right = expression();
        if (right == kNone) return false;
        if (index != kNone) {
            const std::string value = source(amount);
            const bool plain = value.find_first_of(" -<>") == std::string::npos;
            error(op.place,
                  fmt::format("{} works on a `var` only, not on array elements", describe(op)),
                  fmt::format("Fix: write `{0} = {0} {1} {2}{3}{4};`", element, op_text(op.op()),
                              plain ? "" : "(", value, plain ? "" : ")"));
        } else if (found != nullptr && assign_to(stmt, target, symbol, kNone, lane)) {
            ExprId left = node(Op::LOCAL, 0, symbol.index, target.place, {});
            if (lane >= 0)
                left =
                    node(Op::COMPONENT, static_cast<std::uint16_t>(lane), 0, target.place, {left});
            stmt.args[0] = node(op.op(), 0, 0, op.place, {left, right});
            add(into, stmt);
        }
        return expect_semicolon("the assignment");
    }
    if (doubled(Op::ADD) || doubled(Op::SUB)) {
        const std::string place = source(target.text);
        const bool up = token_.is(Op::ADD);
        Type type = symbol.kind == Symbol::Kind::Buffer
                        ? program_.buffers[symbol.index].type.loaded()
                    : symbol.kind == Symbol::Kind::Local ? code_->locals[symbol.index].type
                                                         : kI32;
        if (lane >= 0) type = type.component();
        error(
            op.place, fmt::format("there is no `{}`", up ? "++" : "--"),
            index == kNone
                ? fmt::format("Fix: write `{} {} {};`", place, up ? "+=" : "-=", one(type))
                : fmt::format("Fix: write `{0} = {0} {1} {2};`", place, up ? "+" : "-", one(type)));
        take();
        take();
        return expect_semicolon("the statement");
    }
    if (token_.is(Op::EQ)) {
        error(op.place, "`==` compares and does not assign",
              fmt::format("Fix: write `{} = ...;`", source(target.text)));
        return false;
    }
    unexpected("`=` or an operator such as `+=`",
               fmt::format("Fix: assign a value, as in `{} = ...;`", target.text));
    return false;
}

// Sets the statement's operation and target. Reports and returns false if the target cannot be
// assigned.
bool Parser::assign_to(Stmt& out, const Token& target, const Symbol& symbol, ExprId index,
                       int lane) {
    const std::string shown = describe(target);
    const std::string text(target.text);
    if (index != kNone) {
        out.args[0] = index;
        if (symbol.kind == Symbol::Kind::Buffer) {
            out.op = Op::STORE;
            out.imm = static_cast<std::uint16_t>(symbol.index);
            return true;
        }
        if (symbol.kind == Symbol::Kind::Local &&
            code_->locals[symbol.index].form == Local::Form::Array) {
            out.op = Op::STORE_ARRAY;
            out.local = symbol.index;
            return true;
        }
        // The error in the declaration was reported already.
        if (symbol.kind == Symbol::Kind::Local && code_->locals[symbol.index].type.none())
            return false;
        error(target.place,
              fmt::format("{} is {}{}", shown, article(symbol),
                          symbol.kind == Symbol::Kind::Table ? ", which cannot be written"
                                                             : ", not an array"),
              symbol.kind == Symbol::Kind::Table ? "Fix: copy it to a local array or a buffer"
                                                 : "Fix: assign without an index");
        return false;
    }
    if (symbol.kind == Symbol::Kind::Buffer ||
        (symbol.kind == Symbol::Kind::Local &&
         code_->locals[symbol.index].form == Local::Form::Array)) {
        error(target.place, fmt::format("{} is an array: one element is assigned at a time", shown),
              fmt::format("Fix: write `{}[i] = ...;`", text));
        return false;
    }
    if (symbol.kind != Symbol::Kind::Local) {
        error(target.place,
              fmt::format("{} is {}, which cannot be assigned", shown, article(symbol)),
              "Fix: assign to a `var` or a buffer element");
        return false;
    }
    // The validator checks that the local is a var, since programs come from other sources too.
    out.op = lane < 0 ? Op::ASSIGN : Op::ASSIGN_COMPONENT;
    out.imm = lane < 0 ? std::uint16_t{0} : static_cast<std::uint16_t>(lane);
    out.local = symbol.index;
    return true;
}

}  // namespace wye::ir::detail
