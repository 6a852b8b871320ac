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
    if (found == nullptr && !token_.is(Tok::LeftParen)) unknown(target, "name");
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
        take();
        const ExprId right = expression();
        if (right == kNone) return false;
        if (index != kNone) {
            const std::string element = fmt::format("{}[...]", target.text);
            error(op.place,
                  fmt::format("{} works on a `var` only, not on array elements", describe(op)),
                  fmt::format("Fix: write `{} = {} {} ...;`", element, element, op_text(op.op())));
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
    const bool twice = token_.is(Op::ADD) || token_.is(Op::SUB);
    unexpected("`=` or an operator such as `+=`",
               twice ? fmt::format("Fix: write `{} {}= 1;`", target.text, token_.text)
                     : fmt::format("Fix: assign a value, as in `{} = ...;`", target.text));
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
