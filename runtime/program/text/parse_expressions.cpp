// SPDX-License-Identifier: Apache-2.0
//
// Parses expressions and effects. Nodes get their types when they are made, because for a vector
// type T the type of x decides whether `T(x)` is a conversion or a splat.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "program/text/parser.hpp"
#include "wye/sdk/typing.hpp"

namespace wye::ir::detail {
namespace {

// Limit for nested parentheses and calls. An expression of legal depth never reaches it.
constexpr unsigned kMaxRecursion = 2 * WYE_LIMIT_EXPRESSION_DEPTH + 44;

constexpr int kComparison = 3;
constexpr int kTightest = 9;

}  // namespace

int strength(Op op) {
    switch (op) {
        case Op::LOGICAL_OR:
            return 1;
        case Op::LOGICAL_AND:
            return 2;
        case Op::EQ:
        case Op::NE:
        case Op::LT:
        case Op::LE:
        case Op::GT:
        case Op::GE:
            return kComparison;
        case Op::OR:
            return 4;
        case Op::XOR:
            return 5;
        case Op::AND:
            return 6;
        case Op::SHL:
        case Op::SHR:
            return 7;
        case Op::ADD:
        case Op::SUB:
            return 8;
        case Op::MUL:
        case Op::DIV:
        case Op::REM:
            return kTightest;
        default:
            return 0;
    }
}

// ---- nodes --------------------------------------------------------------------------------

ExprId Parser::node(Op op, std::uint16_t imm, std::uint64_t extra, Place place,
                    std::initializer_list<ExprId> operands) {
    return node(op, imm, extra, place, operands.begin(), operands.size());
}

ExprId Parser::node(Op op, std::uint16_t imm, std::uint64_t extra, Place place,
                    const ExprId* operands, std::size_t count) {
    Expr e;
    e.op = op;
    e.imm = imm;
    e.extra = extra;
    e.place = place;
    e.first = static_cast<std::uint32_t>(code_->operands.size());
    e.count = static_cast<std::uint32_t>(count);
    std::array<Type, WYE_LIMIT_ARGUMENTS> types;
    unsigned depth = 0;
    bool typed = true;
    for (std::size_t i = 0; i < count; ++i) {
        const Expr& operand = code_->exprs[operands[i]];
        if (i < types.size()) types[i] = operand.type;
        typed = typed && !operand.type.none() && i < types.size();
        depth = std::max<unsigned>(depth, depths_[operands[i]]);
        code_->operands.push_back(operands[i]);
    }
    if (++depth > WYE_LIMIT_EXPRESSION_DEPTH) {
        error(
            place,
            fmt::format("this expression is deeper than {} operations", WYE_LIMIT_EXPRESSION_DEPTH),
            "Fix: name a part of it with `let`");
        return poison(place);
    }
    if (op == Op::LOCAL && code_->locals[extra].form != Local::Form::Array) {
        e.type = code_->locals[extra].type;
    } else if (typed) {
        // If the types are wrong, the validator reports that.
        Typing typing = derive_type(program_, *code_, e, {types.data(), count});
        if (typing.ok()) e.type = typing.type;
    }
    code_->exprs.push_back(e);
    depths_.push_back(static_cast<std::uint8_t>(depth));
    return static_cast<ExprId>(code_->exprs.size() - 1);
}

ExprId Parser::literal_node(const LiteralValue& value, Place place) {
    if (value.type.none()) return poison(place);
    Expr e;
    e.op = Op::LITERAL;
    e.imm = value.type.code();
    e.extra = value.bits;
    e.type = value.type;
    e.place = place;
    code_->exprs.push_back(e);
    depths_.push_back(1);
    return static_cast<ExprId>(code_->exprs.size() - 1);
}

// Makes a node in place of an expression whose error was reported.
ExprId Parser::poison(Place place) {
    Expr e;
    e.place = place;
    code_->exprs.push_back(e);
    depths_.push_back(1);
    return static_cast<ExprId>(code_->exprs.size() - 1);
}

bool Parser::deeper(Place place) {
    if (depth_ < kMaxRecursion) {
        ++depth_;
        return true;
    }
    error(place, "parentheses and calls are nested too deeply",
          "Fix: name a part of the expression with `let`");
    return false;
}

// ---- operators ----------------------------------------------------------------------------

ExprId Parser::expression() {
    if (!deeper(token_.place)) return kNone;
    const ExprId id = binary(1);
    --depth_;
    // The unreadable token after the expression was reported. Without a type, the expression itself
    // causes no further report.
    return id != kNone && token_.is(Tok::Bad) ? poison(code_->exprs[id].place) : id;
}

ExprId Parser::binary(int level) {
    ExprId left = unary();
    bool compared = false;
    while (left != kNone) {
        if (token_.is(Tok::Name) && token_.text == "as" && !starts_line()) {
            left = converted();
            continue;
        }
        if (const std::optional<Op> meant = foreign_operator()) {
            // Parses the word as the operator that it stands for. The error is reported when the
            // operator is consumed.
            token_.tok = Tok::Operator;
            token_.code = static_cast<std::uint16_t>(*meant);
        }
        if (!token_.is(Tok::Operator)) break;
        const Token op = token_;
        const int strong = strength(op.op());
        if (strong < level || strong == 0) break;
        if (strong == kComparison) {
            if (compared) {
                error(op.place, "comparisons are not chained",
                      "Fix: write `a < b && b < c`, or put one comparison in parentheses");
                return kNone;
            }
            compared = true;
        } else if (strong < kComparison) {
            compared = false;
        }
        if (letter(op.text[0]))
            error(op.place, fmt::format("there is no operator {}", describe(op)),
                  fmt::format("Fix: write `{}`", op_text(op.op())));
        take();
        if (op.is(Op::MUL) && token_.is(Op::MUL) && token_.place == op.end) {
            error(op.place, "there is no operator `**`", "Fix: write `pow(x, y)`");
            take();
            if (unary() == kNone) return kNone;
            left = poison(op.place);
            continue;
        }
        const ExprId right = binary(strong + 1);
        if (right == kNone) return kNone;
        left = node(op.op(), 0, 0, op.place, {left, right});
    }
    return left;
}

ExprId Parser::unary() {
    const Token op = token_;
    if (op.is(Op::SUB)) {
        take();
        // A sign directly before a number is part of the literal.
        const bool infinity =
            token_.is(Tok::Constant) && token_.text.substr(0, 3) == std::string_view("inf");
        if (token_.is(Tok::Number)) {
            const Number number = scan_number(token_.text);
            const LiteralValue value = literal_value(number, true);
            if (!number.problem.empty())
                error(token_.place, number.problem, number.fix);
            else if (!value.problem.empty())
                error(op.place, value.problem, value.fix);
            const Token digits = token_;
            take();
            if (token_.is(Tok::Dot) && token_.place == digits.end) {
                foreign_point(digits);
                return poison(op.place);
            }
            return selected(literal_node(value, op.place));
        }
        if (infinity) {
            const ExprId id = primary();
            Expr& e = code_->exprs[id];
            e.extra = infinity_bits(e.type, true);
            e.place = op.place;
            return selected(id);
        }
    } else if (op.is(Op::NOT) || op.is(Op::LOGICAL_NOT)) {
        take();
    } else if (op.is(Op::ADD)) {
        const bool twice = last_.is(Op::ADD) || doubled(Op::ADD);
        error(op.place, twice ? "there is no `++`" : "there is no prefix `+`",
              twice ? "Fix: write `x += 1;` as a statement of its own" : "Fix: leave it out");
        return kNone;
    } else if (op.is(Op::AND)) {
        error(op.place, "there are no pointers", "Fix: leave the `&` out, and name the element");
        take();
    } else if (op.is(Tok::Name) && op.text == "not" && find(op.text) == nullptr) {
        error(op.place, "there is no operator `not`", "Fix: write `!`");
        take();
    } else {
        return postfix();
    }
    if (!deeper(op.place)) return kNone;
    const ExprId operand = unary();
    --depth_;
    if (operand == kNone || op.is(Op::AND)) return operand;
    if (op.is(Tok::Name)) return node(Op::LOGICAL_NOT, 0, 0, op.place, {operand});
    return node(op.is(Op::SUB) ? Op::NEG : op.op(), 0, 0, op.place, {operand});
}

bool Parser::component(std::uint16_t& out) {
    take();  // takes the point
    static constexpr std::string_view kComponents = "xyzw";
    if (token_.is(Tok::Name) && token_.text.size() == 1 &&
        kComponents.find(token_.text[0]) != std::string_view::npos) {
        out = static_cast<std::uint16_t>(kComponents.find(token_.text[0]));
        take();
        return true;
    }
    const bool several =
        token_.text.size() > 1 && token_.text.find_first_not_of("xyzw") == std::string_view::npos;
    unexpected("a component (`x`, `y`, `z` or `w`)",
               several ? "Fix: pick one component at a time, as in `f32x2(v.x, v.y)`"
                       : "Fix: write `.x`, `.y`, `.z` or `.w`");
    return false;
}

ExprId Parser::postfix() { return selected(primary()); }

// { "." COMPONENT }
ExprId Parser::selected(ExprId id) {
    while (id != kNone) {
        if (token_.is(Tok::Dot)) {
            const Place place = token_.place;
            std::uint16_t picked = 0;
            // Skips a member of an expression whose error was reported already.
            if (code_->exprs[id].op == Op::None && peek().text.size() != 1) {
                take();
                if (!token_.is(Tok::Semicolon)) take();
                if (token_.is(Tok::LeftParen)) skip_group();
                continue;
            }
            if (!component(picked)) return kNone;
            id = node(Op::COMPONENT, picked, 0, place, {id});
        } else if (token_.is(Tok::LeftBracket)) {
            if (code_->exprs[id].op == Op::None) {
                skip_group();
                continue;
            }
            error(token_.place, "only a named array has elements, and they take one index",
                  "Fix: pick a component with `.x`, or compute one index, as in "
                  "`a[row * width + column]`");
            return kNone;
        } else {
            break;
        }
    }
    return id;
}

// ---- primaries ----------------------------------------------------------------------------

ExprId Parser::primary() {
    const Token at = token_;
    switch (token_.tok) {
        case Tok::Number:
        case Tok::Constant: {
            const std::optional<LiteralValue> value = literal();
            return value ? literal_node(*value, at.place) : kNone;
        }
        case Tok::Name:
            return name_use();
        case Tok::Builtin:
            take();
            return node(Op::BUILTIN, at.code, 0, at.place, {});
        case Tok::Function:
            take();
            return operation(at, at.op());
        case Tok::Type:
            return construct();
        case Tok::LeftParen:
            return parenthesised();
        case Tok::Effect:
            error(
                at.place,
                fmt::format("{} is an effect, which cannot be part of an expression", describe(at)),
                fmt::format("Fix: bind it first, as in `let old = {}(...);`", at.text));
            return effect() == kNone ? kNone : poison(at.place);
        case Tok::Keyword:
            if (at.is(Key::BITCAST)) return bitcast();
            if (at.is(Key::LEN) || at.is(Key::LEN64)) return length();
            break;
        default:
            break;
    }
    if (const ExprId id = foreign_value(); id != kNone) return id;
    unexpected("an expression", "Fix: write a value here");
    return kNone;
}

ExprId Parser::parenthesised() {
    take();
    if (const ExprId id = cast(); id != kNone) return id;
    const ExprId id = expression();
    if (id == kNone || !expect(Tok::RightParen, ")", "after the expression")) return kNone;
    return id;
}

// "(" [ expr { "," expr } ] ")"
bool Parser::arguments(std::vector<ExprId>& out) {
    if (!expect(Tok::LeftParen, "(", "and arguments")) return false;
    while (!token_.is(Tok::RightParen)) {
        const ExprId id = expression();
        if (id == kNone) return false;
        out.push_back(id);
        if (token_.is(Tok::Comma)) {
            take();
        } else if (!token_.is(Tok::RightParen)) {
            unexpected("`,` or `)`", token_.is(Tok::Assign) ? ""
                                                            : "Fix: separate arguments with "
                                                              "`,` and close with `)`");
            return false;
        }
    }
    take();
    return true;
}

ExprId Parser::name_use() {
    const Token name = token_;
    take();
    const Symbol* found = find(name.text);
    const bool called = token_.is(Tok::LeftParen);
    if (found == nullptr) {
        if (const Type type = foreign_type(name.text);
            !type.none() && (called || token_.is(Op::LT)) && !gone_.contains(name.text))
            return foreign_call(name, type);
        if (token_.is(Tok::Colon) && peek().is(Tok::Colon)) {  // `std::sin(x)`
            error(name.place, "there are no namespaces",
                  "Fix: write the name alone, as in `sin(x)`");
            while (token_.is(Tok::Colon)) take();
            if (!token_.is(Tok::Semicolon)) take();
            if (token_.is(Tok::LeftParen)) skip_group();
            return poison(name.place);
        }
        unknown(name, called ? "function" : token_.is(Tok::LeftBracket) ? "array" : "name");
        std::vector<ExprId> ignored;
        if (called && !foreign_name(name.text).empty())
            skip_group();
        else if (called && !arguments(ignored))
            return kNone;
        if (!called && token_.is(Tok::LeftBracket)) {
            take();
            if (expression() == kNone || !expect(Tok::RightBracket, "]", "after the index"))
                return kNone;
        }
        return poison(name.place);
    }
    const Symbol symbol = *found;
    if (token_.is(Tok::LeftBracket)) return indexed(name, symbol);
    if (symbol.kind == Symbol::Kind::Function) {
        if (called) return call(name, symbol.index);
        error(name.place, fmt::format("{} is a function", describe(name)),
              fmt::format("Fix: call it, as in `{}(...)`", name.text));
        return poison(name.place);
    }
    if (called) {
        error(name.place, fmt::format("{} is {}, not a function", describe(name), article(symbol)),
              "Fix: index an array with `[` and `]`, or call a function");
        std::vector<ExprId> ignored;
        return arguments(ignored) ? poison(name.place) : kNone;
    }
    switch (symbol.kind) {
        case Symbol::Kind::Constant:
            return literal_node(constants_[symbol.index], name.place);
        case Symbol::Kind::Param:
            return node(Op::PARAM, static_cast<std::uint16_t>(symbol.index), 0, name.place, {});
        case Symbol::Kind::Local:
            return node(Op::LOCAL, 0, symbol.index, name.place, {});
        default: {
            const Token member = token_.is(Tok::Dot) ? peek() : Token{};
            const bool length = member.text == "length" || member.text == "len" ||
                                member.text == "size" || member.text == "shape";
            error(name.place, fmt::format("{} is {}, not a value", describe(name), article(symbol)),
                  length ? fmt::format("Fix: write `len({})`", name.text)
                         : fmt::format("Fix: read one element, as in `{}[i]`", name.text));
            return poison(name.place);
        }
    }
}

ExprId Parser::indexed(const Token& name, const Symbol& symbol) {
    take();
    const ExprId index = expression();
    if (index != kNone && token_.is(Tok::Comma)) {
        error(token_.place, "an array takes one index",
              "Fix: compute it, as in `a[row * width + column]`");
        while (!token_.is(Tok::RightBracket) && !token_.is(Tok::Semicolon) && !token_.is(Tok::End))
            take();
    }
    if (index == kNone || !expect(Tok::RightBracket, "]", "after the index")) return kNone;
    const auto imm = static_cast<std::uint16_t>(symbol.index);
    if (symbol.kind == Symbol::Kind::Buffer) return node(Op::LOAD, imm, 0, name.place, {index});
    if (symbol.kind == Symbol::Kind::Table)
        return node(Op::LOAD_TABLE, imm, 0, name.place, {index});
    if (symbol.kind == Symbol::Kind::Local) {
        const Local& local = code_->locals[symbol.index];
        if (local.form == Local::Form::Array || local.type.none())
            return node(Op::LOAD_ARRAY, 0, symbol.index, name.place, {index});
    }
    error(name.place, fmt::format("{} is {}, not an array", describe(name), article(symbol)),
          "Fix: use it without an index; pick a component with `.x`");
    return poison(name.place);
}

}  // namespace wye::ir::detail
