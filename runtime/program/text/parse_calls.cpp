// SPDX-License-Identifier: Apache-2.0
//
// Parses constructs with arguments: calls, operations, constructions and effects.
#include <fmt/core.h>

#include "program/text/parser.hpp"

namespace wye::ir::detail {

ExprId Parser::call(const Token& name, std::uint32_t function) {
    std::vector<ExprId> given;
    if (!arguments(given)) return kNone;
    if (function >= program_.functions.size()) {
        error(name.place, fmt::format("`{}` calls itself; there is no recursion", name.text),
              "Fix: use a loop");
        return poison(name.place);
    }
    const Function& callee = program_.functions[function];
    if (callee.type.none()) return poison(name.place);  // the error in its declaration was reported
    if (given.size() != callee.arguments) {
        error(name.place,
              fmt::format("`{}` takes {} {}, got {}", callee.name, callee.arguments,
                          callee.arguments == 1 ? "argument" : "arguments", given.size()),
              "Fix: give it as many arguments as it takes");
        return poison(name.place);
    }
    return node(Op::CALL, static_cast<std::uint16_t>(function), 0, name.place, given.data(),
                given.size());
}

ExprId Parser::operation(const Token& name, Op op) {
    std::vector<ExprId> given;
    if (!arguments(given)) return kNone;
    const auto wanted = static_cast<std::size_t>(op_operands(op));
    if (given.size() != wanted) {
        error(name.place,
              fmt::format("{} takes {} {}, got {}", describe(name), wanted,
                          wanted == 1 ? "value" : "values", given.size()),
              "Fix: give it as many values as it takes");
        return poison(name.place);
    }
    return node(op, 0, 0, name.place, given.data(), given.size());
}

// TYPE "(" ... ")": a conversion, a splat or one operand for each component.
ExprId Parser::construct() {
    const Token at = token_;
    const Type type = type_from_code(at.code).value_or(Type{});
    take();
    if (token_.is(Tok::Colon) && peek().is(Tok::Colon)) {  // `f32::MAX`
        error(at.place, "a type has no members",
              "Fix: write the value, such as `inf_f32`, or `2147483647` for the largest i32");
        take();
        take();
        if (token_.is(Tok::Name)) take();
        return poison(at.place);
    }
    std::vector<ExprId> given;
    if (!arguments(given)) return kNone;
    if (given.size() == 1) {
        const bool splat = !type.scalar() && type_of(given[0]).scalar();
        return node(splat ? Op::SPLAT : Op::CONVERT, at.code, 0, at.place, given.data(), 1);
    }
    if (type.scalar() || given.size() != type.lanes) {
        error(at.place,
              fmt::format("{} {}, got {}", describe(at),
                          type.scalar()
                              ? "takes one value"
                              : fmt::format("takes one value, or one for each of its {} components",
                                            type.lanes),
                          given.size()),
              "Fix: give each component as a scalar");
        return poison(at.place);
    }
    return node(Op::CONSTRUCT, at.code, 0, at.place, given.data(), given.size());
}

// "bitcast" "<" TYPE ">" "(" expr ")"
ExprId Parser::bitcast() {
    const Token at = token_;
    take();
    Type to;
    if (!token_.is(Op::LT)) {
        unexpected("`<`", "Fix: write `bitcast<TYPE>(x)`");
        return kNone;
    }
    take();
    if (!type(to)) return kNone;
    if (!token_.is(Op::GT)) {
        unexpected("`>`", "Fix: write `bitcast<TYPE>(x)`");
        return kNone;
    }
    take();
    std::vector<ExprId> given;
    if (!arguments(given)) return kNone;
    if (given.size() != 1) {
        error(at.place, fmt::format("`bitcast` takes one value, got {}", given.size()),
              "Fix: write `bitcast<TYPE>(x)`");
        return poison(at.place);
    }
    if (to.none()) return poison(at.place);
    return node(Op::BITCAST, to.code(), 0, at.place, given.data(), 1);
}

// ( "len" | "len64" ) "(" NAME ")"
ExprId Parser::length() {
    const Token at = token_;
    const bool wide = at.is(Key::LEN64);
    take();
    if (!expect(Tok::LeftParen, "(", "after " + describe(at))) return kNone;
    if (token_.is(Op::AND)) {
        error(token_.place, "there are no pointers", "Fix: leave the `&` out");
        take();
    }
    const Token name = token_;
    if (!name.is(Tok::Name)) {
        unexpected("an array's name", {});
        return kNone;
    }
    take();
    const Symbol* found = find(name.text);
    const Symbol symbol = found != nullptr ? *found : Symbol{};
    if (!expect(Tok::RightParen, ")", "after the array's name")) return kNone;
    if (found == nullptr) {
        unknown(name, "array");
        return poison(at.place);
    }
    const auto imm = static_cast<std::uint16_t>(symbol.index);
    if (symbol.kind == Symbol::Kind::Buffer)
        return node(wide ? Op::LEN64 : Op::LEN, imm, 0, at.place, {});
    if (symbol.kind == Symbol::Kind::Table)
        return node(wide ? Op::LEN64_TABLE : Op::LEN_TABLE, imm, 0, at.place, {});
    if (symbol.kind == Symbol::Kind::Local &&
        code_->locals[symbol.index].form == Local::Form::Array)
        return node(wide ? Op::LEN64_ARRAY : Op::LEN_ARRAY, 0, symbol.index, at.place, {});
    error(name.place, fmt::format("{} is {}, not an array", describe(name), article(symbol)),
          "Fix: name a buffer, a table or a local array");
    return poison(at.place);
}

// EFFECT "(" ( place | expr ) { "," expr } ")"
ExprId Parser::effect() {
    const Token at = token_;
    const Op op = at.op();
    take();
    std::vector<ExprId> given;
    std::uint16_t imm = 0;
    bool placed = true;
    if (op_atomic(op) || op == Op::WORKGROUP_UNIFORM_LOAD) {
        if (!expect(Tok::LeftParen, "(", "and a buffer's element")) return kNone;
        if (token_.is(Op::AND)) {
            error(token_.place, "there are no pointers", "Fix: leave the `&` out");
            take();
        }
        const Token name = token_;
        if (!name.is(Tok::Name)) {
            unexpected("a buffer's element",
                       fmt::format("Fix: write `{}(buffer[i], ...)`", at.text));
            return kNone;
        }
        take();
        const Symbol* found = find(name.text);
        const Symbol symbol = found != nullptr ? *found : Symbol{};
        if (found == nullptr) {
            unknown(name, "buffer");
            placed = false;
        } else if (symbol.kind != Symbol::Kind::Buffer) {
            error(name.place,
                  fmt::format("{} takes an element of a buffer, but {} is {}", describe(at),
                              describe(name), article(symbol)),
                  "Fix: name a writable buffer or a `shared` array");
            placed = false;
        }
        imm = static_cast<std::uint16_t>(symbol.index);
        if (!token_.is(Tok::LeftBracket)) {
            if (!placed) return kNone;
            unexpected("`[` and an index",
                       fmt::format("Fix: name one element, as in `{}[i]`", name.text));
            return kNone;
        }
        take();
        given.push_back(expression());
        if (given[0] == kNone || !expect(Tok::RightBracket, "]", "after the index")) return kNone;
        if (token_.is(Tok::Comma)) {
            take();
            while (!token_.is(Tok::RightParen)) {
                given.push_back(expression());
                if (given.back() == kNone) return kNone;
                if (!token_.is(Tok::Comma)) break;
                take();
            }
        }
        if (!expect(Tok::RightParen, ")", "after the arguments")) return kNone;
    } else if (!arguments(given)) {
        return kNone;
    }
    const auto wanted = static_cast<std::size_t>(op_operands(op));
    if (given.size() != wanted) {
        error(at.place,
              fmt::format("{} takes {} {}, got {}", describe(at), wanted,
                          wanted == 1 ? "operand" : "operands", given.size()),
              op == Op::ATOMIC_CAS ? "Fix: write `atomic_cas(b[i], expected, new)`"
                                   : "Fix: give it as many operands as it takes");
        return poison(at.place);
    }
    if (!placed) return poison(at.place);
    return node(op, imm, 0, at.place, given.data(), given.size());
}

}  // namespace wye::ir::detail
