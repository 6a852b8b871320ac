// SPDX-License-Identifier: Apache-2.0
//
// Recognises forms of other languages that newcomers write. Each form is reported once, with what
// to write instead, and parsed to its end. The names that it declares get no type, so that their
// uses are not reported.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "program/text/parser.hpp"
#include "wye/sdk/typing.hpp"

namespace wye::ir::detail {
namespace {

bool no_wye(const OtherLanguage& language) {
    return language.name != "C" && language.name != "Rust" && language.name != "Python";
}

bool name_character(char c) { return letter(c) || digit(c); }

bool digits_only(std::string_view text) { return std::all_of(text.begin(), text.end(), digit); }

// Returns "0u" for "0" if the end of the range is unsigned.
std::string first_value(std::string text, bool without_sign) {
    return without_sign && digits_only(text) ? text + "u" : text;
}

// Whether a part of a `for` of C may stand in a range: no list, no float and no member function.
bool whole_value(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == ',' || text[i] == ';' || text[i] == '"') return false;
        const bool component = text[i] == '.' && i + 1 < text.size() &&
                               std::string_view("xyzw").find(text[i + 1]) != text.npos &&
                               (i + 2 == text.size() || !name_character(text[i + 2]));
        if (text[i] == '.' && !component) return false;
    }
    return true;
}

// Removes the suffixes of C's floats: "0.5f" becomes "0.5".
std::string without_suffixes(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool after_number = i != 0 && (digit(text[i - 1]) || text[i - 1] == '.');
        const bool ends = i + 1 == text.size() || !name_character(text[i + 1]);
        // A number in hexadecimal digits, or a name such as `x2f`, is left as it is.
        std::size_t begin = i;
        while (begin != 0 && (name_character(text[begin - 1]) || text[begin - 1] == '.')) --begin;
        const bool number = begin < i && digit(text[begin]) && text.compare(begin, 2, "0x") != 0 &&
                            text.compare(begin, 2, "0X") != 0;
        if ((text[i] == 'f' || text[i] == 'F') && after_number && ends && number) continue;
        out += text[i];
    }
    return out;
}

// Qualifiers of memory that a workgroup shares.
bool of_workgroup(std::string_view word) {
    constexpr std::array kWords = std::to_array<std::string_view>(
        {"__shared__", "__local", "local", "groupshared", "threadgroup", "shared"});
    return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

}  // namespace

// ---- whole texts --------------------------------------------------------------------------

// Reports a text of another language once, and skips it. Returns false for every other text.
bool Parser::foreign_text(Place place) {
    if (!asked_language_) language_ = other_language(text_);  // reads all of it
    asked_language_ = true;
    const std::optional<OtherLanguage>& found = language_;
    if (!found || (place.line != 0 && !no_wye(*found))) return false;
    // The reports of the lexer so far are about text of the other language.
    errors_.clear();
    error(place.line == 0 ? Place{1, 1} : place,
          fmt::format("this is {}, not Wye's language", found->name),
          fmt::format(
              "Fix: begin with `wye 1; program NAME; workgroup 64;`, declare each buffer, as "
              "in `input x: f32[];`, and put the body in `main {{ ... }}`{}",
              found->variant.empty()
                  ? std::string()
                  : fmt::format("; a kernel in this language can stand beside `main`, as `variant "
                                "\"{}\"`",
                                found->variant)));
    skip_all();
    foreign_ = true;
    return true;
}

// ---- the head -----------------------------------------------------------------------------

// Reports `float x` where `x: f32` belongs, and takes both tokens.
bool Parser::type_first(Token& given, Type& out) {
    const Type type = token_.is(Tok::Type)   ? type_from_code(token_.code).value_or(Type{})
                      : token_.is(Tok::Name) ? foreign_type(token_.text)
                                             : Type{};
    if (type.none() || !peek().is(Tok::Name)) return false;
    const Place place = token_.place;
    take();
    given = token_;
    take();
    error(place, "a name comes before its type",
          fmt::format("Fix: write `{}: {}`", given.text, type_name(type)));
    out = {};
    return true;
}

// Reports a declaration of another language. Returns false for every other token.
bool Parser::foreign_head() {
    if (!token_.is(Tok::Name) && !token_.is(Tok::Type)) return false;
    if (peek().is(Key::MAIN)) {  // `void main() {`
        error(token_.place, "`main` has no type", "Fix: write `main { ... }`");
        take();
        return true;
    }
    Token name = peek();
    Type type = token_.is(Tok::Type) ? type_from_code(token_.code).value_or(Type{})
                                     : foreign_type(token_.text);
    // "unsigned long n": the last word is the name.
    while (!type.none() && name.is(Tok::Name) && !foreign_type(name.text).none()) {
        const bool without_sign = token_.text == "unsigned" || type.unsigned_integer();
        take();
        if (const Type here = foreign_type(token_.text); here.bits() > type.bits()) type = here;
        if (without_sign && type.signed_integer())
            type = type_from_name("u" + type_name(type).substr(1)).value_or(type);
        name = peek();
    }
    const std::string_view fix = foreign_start(token_.text);
    if (!fix.empty()) {
        error(token_.place, fmt::format("there is no declaration {}", describe(token_)),
              fmt::format("Fix: {}", fix));
    } else if (!type.none() && name.is(Tok::Name)) {
        error(token_.place, "a declaration does not begin with its type",
              fmt::format("Fix: write `param {0}: {1};`, `const {0} = ...;`, or a buffer such as "
                          "`input {0}: {1}[];`",
                          name.text, type_name(type)));
        constants_.emplace_back();
        declare(name, Symbol::Kind::Constant, constants_.size() - 1);
    } else {
        return false;
    }
    skip_to_end(true);
    return true;
}

// ---- declarations in blocks ---------------------------------------------------------------

// Whether a declaration such as `float y = 3;` or `static const uint n;` begins here.
bool Parser::foreign_declaration() const {
    const Token next = peek();
    const bool word = next.is(Tok::Name) || next.is(Tok::Type);
    if (token_.is(Tok::Type)) return word;
    if (token_.is(Key::CONST) || token_.is(Tok::Role))
        return next.is(Tok::Type) || (next.is(Tok::Name) && !foreign_type(next.text).none());
    if (!token_.is(Tok::Name) || find(token_.text) != nullptr) return false;
    const bool known = !foreign_type(token_.text).none() || foreign_qualifier(token_.text);
    return word || (known && (next.is(Op::MUL) || next.is(Key::CONST)));
}

bool Parser::c_declaration(std::vector<StmtId>&) {
    const Token begin = token_;
    Type type;
    bool pointer = false, shared = false, without_sign = false;
    // All words but the last, which is the name, belong to the type.
    while (token_.is(Tok::Type) || token_.is(Tok::Name) || token_.is(Key::CONST) ||
           token_.is(Tok::Role) || token_.is(Op::MUL)) {
        const Token next = peek();
        const bool last = token_.is(Tok::Name) && !next.is(Tok::Name) && !next.is(Tok::Type) &&
                          !next.is(Op::MUL) && !next.is(Key::CONST);
        if (last) break;
        pointer = pointer || token_.is(Op::MUL);
        shared = shared || of_workgroup(token_.text);
        without_sign = without_sign || token_.text == "unsigned";
        const Type here = token_.is(Tok::Type) ? type_from_code(token_.code).value_or(Type{})
                                               : foreign_type(token_.text);
        // "long int" and "unsigned long" are as wide as their widest word.
        if (!here.none() && (type.none() || here.bits() > type.bits() || token_.text == "char" ||
                             token_.text == "short"))
            type = here;
        take();
    }
    if (without_sign && type.signed_integer())
        type = type_from_name("u" + type_name(type).substr(1)).value_or(type);
    if (!token_.is(Tok::Name)) {
        error(begin.place, "a declaration begins with `let` or `var`, not with its type",
              "Fix: write `let NAME = ...;`, or `var` if it changes");
        return false;
    }
    if (type.storage()) type = type.loaded();
    const Token given = token_;
    take();
    if (pointer) {
        error(begin.place, "there are no pointers", "Fix: use an index, as in `x[i]`");
        add_local(given, {Local::Form::Array, {}, 1, {}, {}});
        Diagnostics* const report = lexer_.report_to(nullptr);
        skip_to_end(false);
        lexer_.report_to(report);
        return true;
    }
    std::string fix;
    const std::string of_type = type.none() ? std::string() : ": " + type_name(type);
    Local local{Local::Form::Var, {}, 0, {}, {}};
    bool good = true;
    if (token_.is(Tok::LeftBracket)) {
        const std::string_view open = token_.text;
        skip_group();
        const std::string count = source(open);
        const std::string element = type.none() ? "f32" : type_name(type);
        fix = shared ? fmt::format("Fix: declare `shared {}: {}{};` above `main`", given.text,
                                   element, count)
                     : fmt::format("Fix: write `var {}: {}{};`", given.text, element, count);
        if (token_.is(Tok::Assign) && peek().is(Tok::LeftBrace))
            fix = fmt::format(
                "Fix: declare `table {}: {}{} = {{ ... }};` with these values above `main`, or "
                "write `var {}: {}{};` and assign each element",
                given.text, element, count, given.text, element, count);
        local.form = Local::Form::Array;
        local.count = 1;
    } else if (token_.is(Tok::LeftParen)) {
        fix = "Fix: declare a function above `main`, as in `fn f(a: f32) -> f32 { return a; }`";
        good = false;
    } else if (!token_.is(Tok::Assign)) {
        fix = fmt::format("Fix: write `var {}{};`", given.text, type.none() ? ": f32" : of_type);
    }
    if (token_.is(Tok::Assign)) {
        take();
        const std::string_view from = token_.text;
        if (token_.is(Tok::LeftBrace)) {
            skip_group();
        } else {
            const ExprId id = value();
            std::string text = source(from);
            good = id != kNone;
            const Type got = good ? type_of(id) : Type{};
            if (!type.none() && !got.none() && got != type) {
                const std::string literal = literal_as(*code_, id, type);
                // Keeps the digits as they were written: if they are too large for the literal's
                // own type, the literal has another value.
                if (!digits_only(text) || type.floating())
                    text = literal.empty() ? fmt::format("{}({})", type_name(type), text) : literal;
                else if (type != kI32)
                    text += type == kU32 ? "u" : type_name(type);
            }
            text = good ? without_suffixes(text) : "...";
            fix = fmt::format("Fix: write `let {}{} = {};`, or `var` if it changes", given.text,
                              of_type, text);
        }
    }
    error(begin.place, "a declaration begins with `let` or `var`, not with its type",
          std::move(fix));
    add_local(given, local);
    while (good && token_.is(Tok::Comma)) {
        take();
        if (!token_.is(Tok::Name)) return false;
        const Token another = token_;
        take();
        if (token_.is(Tok::Assign)) {
            take();
            good = value() != kNone;
        }
        add_local(another, local);
    }
    return good && expect_semicolon("the declaration");
}

// ---- statements ---------------------------------------------------------------------------

// `++i;`
bool Parser::step_by_one() {
    const Token op = token_;
    take();
    take();
    const std::string_view from = token_.text;
    const ExprId id = token_.is(Tok::Name) ? primary() : kNone;
    const bool up = op.is(Op::ADD);
    error(op.place, fmt::format("there is no `{}`", up ? "++" : "--"),
          fmt::format("Fix: write `{} {} {};`", id == kNone ? "x" : source(from),
                      up ? "+=" : "-=", one(id == kNone ? Type{} : type_of(id))));
    return id != kNone && expect_semicolon("the statement");
}

// Returns the text of the literal 1 of this type.
std::string Parser::one(Type type) {
    if (type.none() || !type.scalar()) return "1";
    return literal_text(type, type.integer() ? 1
                                             : literal_value(scan_number(type == kF32   ? "1.0"
                                                                         : type == kF16 ? "1.0f16"
                                                                                        : "1.0f64"),
                                                             false)
                                                   .bits);
}

// Parses a statement of another language. Returns nothing if the next token begins no such
// statement.
std::optional<bool> Parser::foreign_statement(std::vector<StmtId>& into, unsigned nesting) {
    const Token at = token_;
    if (doubled(Op::ADD) || doubled(Op::SUB)) return step_by_one();
    if (at.is(Op::MUL)) {
        error(at.place, "there are no pointers", "Fix: assign to an element, as in `x[i] = ...;`");
        return false;
    }
    if (at.is(Tok::Bad) || at.is(Tok::Effect)) return std::nullopt;
    if (foreign_declaration()) {
        const bool start =
            at.is(Tok::Name) && (at.text == "do" || at.text == "loop" || at.text == "elif" ||
                                 at.text == "elsif" || !foreign_start(at.text).empty());
        if (!start) return c_declaration(into);
    }
    if (at.is(Tok::Role)) {
        error(at.place, fmt::format("{} must be above `main`, not inside a block", describe(at)),
              "Fix: move the declaration up");
        take();
        (void)buffer(static_cast<Role>(at.code));
        return true;
    }
    if (!at.is(Tok::Name) || find(at.text) != nullptr) return std::nullopt;
    if (at.text == "do" && peek().is(Tok::LeftBrace)) return do_loop(into, nesting);
    if (at.text == "loop" && peek().is(Tok::LeftBrace)) {
        error(at.place, "there is no statement `loop`", "Fix: write `while true { ... }`");
        take();
        return block(nesting + 1) != kNone;
    }
    if (at.text == "elif" || at.text == "elsif") {
        error(at.place, fmt::format("there is no statement {}", describe(at)),
              "Fix: write `else if`");
        take();
        return (expression() != kNone || token_.is(Tok::LeftBrace)) && block(nesting + 1) != kNone;
    }
    const std::string_view fix = foreign_start(at.text);
    const Token next = peek();
    if (fix.empty() || next.is(Tok::Assign) || next.is(Tok::OpAssign) || next.is(Tok::LeftBracket))
        return std::nullopt;
    error(at.place, fmt::format("there is no statement {}", describe(at)),
          fmt::format("Fix: {}", fix));
    Diagnostics* const report = lexer_.report_to(nullptr);
    skip_to_end(false);
    lexer_.report_to(report);
    return true;
}

bool Parser::do_loop(std::vector<StmtId>&, unsigned nesting) {
    const Token at = token_;
    take();
    bool good = block(nesting + 1) != kNone;
    std::string condition = "CONDITION";
    if (good && token_.is(Key::WHILE)) {
        take();
        const std::string_view from = token_.text;
        good = expression() != kNone;
        if (good) condition = source(from);
    }
    if (!condition.starts_with('(')) condition = "(" + condition + ")";
    error(at.place, "there is no statement `do`",
          fmt::format("Fix: write `while true {{ ... if !{} {{ break; }} }}`", condition));
    return good && expect_semicolon("the condition");
}

// Parses `for (int j = 0; j < 10; j++)`, with the `(` as the next token.
bool Parser::c_for(std::vector<StmtId>&, unsigned nesting) {
    const Token at = last_;
    Diagnostics* const report = lexer_.report_to(nullptr);
    take();
    Token given;
    Type type;
    while (!token_.is(Tok::Assign) && !token_.is(Tok::Semicolon) && !token_.is(Tok::RightParen) &&
           !token_.is(Tok::LeftBrace) && !token_.is(Tok::End)) {
        if (token_.is(Tok::Type)) type = type_from_code(token_.code).value_or(Type{});
        if (token_.is(Tok::Name) && !foreign_type(token_.text).none())
            type = foreign_type(token_.text);
        if (token_.is(Tok::Name)) given = token_;
        take();
    }
    const auto until = [&](auto stop) {
        const std::string_view from = token_.text;
        int open = 0;
        while (!token_.is(Tok::Semicolon) && !token_.is(Tok::LeftBrace) && !token_.is(Tok::End) &&
               (open > 0 || !(token_.is(Tok::RightParen) || stop()))) {
            open += token_.is(Tok::LeftParen) ? 1 : token_.is(Tok::RightParen) ? -1 : 0;
            take();
        }
        return source(from);
    };
    const auto never = [] { return false; };
    std::string first, end, step;
    bool known = token_.is(Tok::Assign);
    if (known) take();
    if (known) first = until(never);
    known = known && token_.is(Tok::Semicolon);
    bool through = false;
    bool without_sign = type.unsigned_integer();
    if (known) {
        take();
        const bool same = token_.is(Tok::Name) && token_.text == given.text;
        if (same) take();
        through = token_.is(Op::LE);
        known = same && (token_.is(Op::LT) || through || token_.is(Op::NE));
        if (known) take();
        const Token bound = token_;
        if (known) end = until(never);
        const Symbol* symbol = bound.is(Tok::Name) ? find(bound.text) : nullptr;
        if (symbol != nullptr && symbol->kind == Symbol::Kind::Param)
            without_sign = program_.params[symbol->index].type.unsigned_integer();
        if (symbol != nullptr && symbol->kind == Symbol::Kind::Local)
            without_sign = code_->locals[symbol->index].type.unsigned_integer();
        without_sign = without_sign || bound.is(Key::LEN) || end.ends_with('u');
        known = known && token_.is(Tok::Semicolon);
    }
    if (known) {
        take();
        while (token_.is(Tok::Name) && token_.text == given.text) take();
        const bool once = doubled(Op::ADD);
        known = once || (token_.is(Tok::OpAssign) && token_.op() == Op::ADD);
        if (known && !once) {
            take();
            step = until(never);
        }
    }
    while (!token_.is(Tok::LeftBrace) && !token_.is(Tok::End) && !last_.is(Tok::RightParen)) {
        until(never);
        if (token_.is(Tok::RightParen) && peek().is(Tok::LeftBrace)) lexer_.report_to(report);
        if (!token_.is(Tok::LeftBrace)) take();
    }
    lexer_.report_to(report);
    known =
        known && !type.floating() && whole_value(first) && whole_value(end) && whole_value(step);
    if (through) end += without_sign ? " + 1u" : " + 1";
    const std::string name(given.text.empty() ? "NAME" : given.text);
    error(at.place,
          type.floating() ? "a `for` counts through a range of whole numbers"
                          : "a `for` counts through a range",
          known ? fmt::format("Fix: write `for {} in {}..{}{} {{ ... }}`", name,
                              first_value(first, without_sign), first_value(end, without_sign),
                              step.empty() ? "" : " step " + first_value(step, without_sign))
                : fmt::format("Fix: write `for {} in FIRST..END {{ ... }}`, or a `while`", name));
    const std::size_t mark = local_names_.size();
    if (given.is(Tok::Name)) add_local(given, {Local::Form::Var, {}, 0, {}, {}});
    const bool good = block(nesting + 1) != kNone;
    close_scope(mark);
    return good;
}

// ---- expressions --------------------------------------------------------------------------

// Returns the operator that a word stands for where an operator may be: `and`, `or`, `mod`.
std::optional<Op> Parser::foreign_operator() const {
    if (!token_.is(Tok::Name)) return std::nullopt;
    if (token_.text == "and") return Op::LOGICAL_AND;
    if (token_.text == "or") return Op::LOGICAL_OR;
    if (token_.text == "xor") return Op::NE;
    if (token_.text == "mod") return Op::REM;
    if (token_.text == "div") return Op::DIV;
    return std::nullopt;
}

// Parses "x as f32", with `as` as the next token.
ExprId Parser::converted() {
    const Token at = token_;
    take();
    const Type to = token_.is(Tok::Type) ? type_from_code(token_.code).value_or(Type{})
                                         : foreign_type(token_.text);
    error(at.place, "there is no operator `as`",
          fmt::format("Fix: write `{}(x)`", to.none() ? "f32" : type_name(to)));
    if (token_.is(Tok::Type) || token_.is(Tok::Name)) take();
    return poison(at.place);
}

// Parses "(float)x", after the `(`. Returns kNone, and reports nothing, for everything else.
ExprId Parser::cast() {
    const Type to = token_.is(Tok::Type) ? type_from_code(token_.code).value_or(Type{})
                    : token_.is(Tok::Name) && find(token_.text) == nullptr
                        ? foreign_type(token_.text)
                        : Type{};
    if (to.none() || !peek().is(Tok::RightParen)) return kNone;
    const Place place = token_.place;
    take();
    take();
    const std::string_view from = token_.text;
    if (!deeper(place)) return kNone;
    const ExprId converted = unary();
    --depth_;
    if (converted == kNone) return kNone;
    const std::string value = source(from);
    error(place, "a conversion is written as a call",
          fmt::format("Fix: write `{}{}`", type_name(to.storage() ? to.loaded() : to),
                      value.starts_with('(') ? value : "(" + value + ")"));
    return poison(place);
}

// Parses "float(x)" or "vec4<f32>(x, y, z, w)", after the name.
ExprId Parser::foreign_call(const Token& name, Type type) {
    if (token_.is(Op::LT) && peek().is(Tok::Type)) {
        take();
        type = type_from_code(token_.code).value_or(Type{}).with_lanes(type.lanes);
        take();
        if (token_.is(Op::GT)) take();
    }
    error(name.place, fmt::format("there is no type {}", describe(name)),
          fmt::format("Fix: write `{}(...)`", type_name(type.storage() ? type.loaded() : type)));
    std::vector<ExprId> ignored;
    return arguments(ignored) ? poison(name.place) : kNone;
}

// Parses values that only other languages have. Returns kNone, and reports nothing, for other
// tokens.
ExprId Parser::foreign_value() {
    const Token at = token_;
    const auto no = [&](const char* what, const char* fix) { error(at.place, what, fix); };
    if (at.is(Tok::LeftBracket) || (at.is(Tok::LeftBrace) && last_.is(Tok::Assign))) {
        no("there are no lists of values",
           "Fix: declare a table above `main`, as in `table t: i32[3] = { 1, 2, 3 };`");
        skip_group();
        return poison(at.place);
    }
    if (at.is(Tok::String)) {
        no("there are no strings", "Fix: use a number that stands for it");
        take();
        return poison(at.place);
    }
    if (at.is(Tok::Dot) && peek().is(Tok::Number)) {
        take();
        error(at.place, "a float has digits on both sides of its point",
              fmt::format("Fix: write `0.{}`", without_suffixes(std::string(token_.text))));
        take();
        return poison(at.place);
    }
    if (at.is(Key::IF)) {
        no("`if` is a statement, and has no value",
           "Fix: choose with `select(condition, a, b)`, or assign to a `var` in each block");
        while (token_.is(Key::IF)) {
            take();
            if (expression() == kNone) return poison(at.place);
            if (token_.is(Tok::LeftBrace)) skip_group();
            if (token_.is(Key::ELSE)) take();
        }
        if (token_.is(Tok::LeftBrace)) skip_group();
        return poison(at.place);
    }
    return kNone;
}

// Parses "2." or "2.f", with the point as the next token.
void Parser::foreign_point(const Token& number) {
    error(number.place, "a float has digits on both sides of its point",
          fmt::format("Fix: write `{}.0`", number.text));
    const Place end = token_.end;
    take();
    if (token_.is(Tok::Name) && token_.place == end) take();
}

}  // namespace wye::ir::detail
