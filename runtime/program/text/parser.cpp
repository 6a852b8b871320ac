// SPDX-License-Identifier: Apache-2.0
//
// Token handling, names and error recovery, shared by all rules of the parser.
#include "program/text/parser.hpp"

#include <fmt/core.h>

#include "program/check/validate.hpp"

#include <algorithm>
#include <array>

namespace wye::ir {

namespace detail {
namespace {

std::string at_place(Place place) { return fmt::format("{}:{}", place.line, place.column); }

bool begins_head(const Token& token) {
    return token.is(Tok::Role) || token.is(Key::WORKGROUP) || token.is(Key::SUBGROUP) ||
           token.is(Key::CONST) || token.is(Key::PARAM) || token.is(Key::GRID) ||
           token.is(Key::TABLE) || token.is(Key::FN) || token.is(Key::VARIANT) ||
           token.is(Key::MAIN);
}

bool begins_statement(const Token& token) {
    return token.is(Key::LET) || token.is(Key::VAR) || token.is(Key::IF) || token.is(Key::FOR) ||
           token.is(Key::WHILE) || token.is(Key::BREAK) || token.is(Key::CONTINUE) ||
           token.is(Key::RETURN) || token.is(Key::BARRIER) || token.is(Key::GRID_BARRIER) ||
           token.is(Key::TRAP);
}

}  // namespace

Parser::Parser(std::string_view text) : text_(text), lexer_(text, &errors_) {}

void Parser::take() {
    last_ = token_;
    token_ = lexer_.next();
    // A reserved word that was declared as a name counts as a name, unless it is called.
    if (!misnamed_.empty() && misnamed_.contains(token_.text) && !peek().is(Tok::LeftParen))
        token_.tok = Tok::Name;
}

// Returns the token after the next one.
Token Parser::peek() const {
    Lexer ahead = lexer_;
    ahead.report_to(nullptr);
    return ahead.next();
}

// Whether the next two tokens are this operator twice, without a blank between them.
bool Parser::doubled(Op op) const {
    return token_.is(op) && peek().is(op) && peek().place == token_.end;
}

// Returns a part of the program text for messages: from `begin`, a view of that text, to the end of
// the last token; "..." if the part is long.
std::string Parser::source(std::string_view begin) const {
    constexpr std::ptrdiff_t kWidest = 48;
    const std::ptrdiff_t bytes = last_.text.data() + last_.text.size() - begin.data();
    const std::string_view found = bytes > 0 && bytes <= kWidest
                                       ? std::string_view(begin.data(), bytes)
                                       : std::string_view("...");
    return std::string(found.find('\n') == std::string_view::npos ? found : "...");
}

// Skips a group: from the next token, which is an opening bracket, to the bracket that closes it.
// Reports nothing in the group.
void Parser::skip_group() {
    Diagnostics* const report = lexer_.report_to(nullptr);
    int open = 0;
    do {
        if (token_.is(Tok::LeftParen) || token_.is(Tok::LeftBrace) || token_.is(Tok::LeftBracket))
            ++open;
        if (token_.is(Tok::RightParen) || token_.is(Tok::RightBrace) ||
            token_.is(Tok::RightBracket))
            --open;
        if (open == 0) lexer_.report_to(report);
        take();
    } while (open > 0 && !token_.is(Tok::End));
    lexer_.report_to(report);
}

void Parser::skip_all() {
    lexer_.report_to(nullptr);
    while (!token_.is(Tok::End)) take();
}

void Parser::error(Place place, std::string message, std::string fix) {
    errors_.add(place, std::move(message), std::move(fix));
}

void Parser::unexpected(std::string_view wanted, std::string fix) {
    if (token_.is(Tok::Bad)) return;
    if (fix.empty()) {
        fix = fmt::format("Fix: write {} here", wanted);
        if (token_.is(Tok::Assign)) fix = "Fix: write `==` to compare";
    }
    error(token_.place, fmt::format("expected {}, found {}", wanted, describe(token_)),
          std::move(fix));
}

bool Parser::expect(Tok tok, std::string_view text, std::string_view where) {
    if (token_.is(tok)) {
        take();
        return true;
    }
    const std::string wanted = fmt::format("`{}` {}", text, where);
    const std::string fix = token_.is(Tok::Assign) ? "Fix: write `==` to compare"
                                                   : fmt::format("Fix: write `{}` here", text);
    if (starts_line() && !token_.is(Tok::Bad))
        error(last_.end, fmt::format("expected {}", wanted), fix);
    else
        unexpected(wanted, fix);
    return false;
}

// Reports a missing `;`; at the end of a line, parsing continues as if it were there.
bool Parser::expect_semicolon(std::string_view after) {
    if (token_.is(Tok::Semicolon)) {
        take();
        return true;
    }
    if (token_.is(Tok::Bad)) return false;
    const bool harmless = starts_line() || token_.is(Tok::RightBrace) || token_.is(Tok::End);
    const std::string_view rest = text_.substr(
        static_cast<std::size_t>(last_.text.data() + last_.text.size() - text_.data()));
    const std::size_t next = rest.find_first_not_of(" \t");
    const bool comment =
        harmless && next != std::string_view::npos && rest.substr(next).starts_with("//");
    error(harmless ? last_.end : token_.place,
          fmt::format("expected `;` after {}{}", after,
                      harmless ? std::string() : fmt::format(", found {}", describe(token_))),
          token_.is(Tok::Assign) && !harmless ? "Fix: assign to one name in each statement"
          : token_.is(Key::IF) && !harmless   ? "Fix: choose with `select(condition, a, b)`"
          : comment ? "Fix: write `;` here; `//` begins a comment, and `/` divides"
                    : "Fix: write `;` here");
    return harmless;
}

bool Parser::name(std::string_view what, Token& out) {
    if (token_.is(Tok::Name)) {
        out = token_;
        take();
        return true;
    }
    const bool reserved = token_.tok > Tok::Name && token_.tok <= Tok::Constant;
    if (!reserved) {
        unexpected(what, "Fix: write a name: letters, digits and `_`");
        return false;
    }
    error(token_.place, fmt::format("{} is a reserved word, not a name", describe(token_)),
          fmt::format("Fix: choose another name, such as `{}_`", token_.text));
    misnamed_.insert(token_.text);
    out = token_;
    take();
    return true;
}

bool Parser::type(Type& out) {
    if (token_.is(Tok::Type)) {
        out = type_from_code(token_.code).value_or(Type{});
        take();
        return true;
    }
    if (token_.is(Tok::LeftBracket)) {
        error(token_.place, "an array's count comes after its type",
              code_ != nullptr ? "Fix: write `var NAME: f32[4];`" : "Fix: write `f32[4]`");
        skip_group();
        return false;
    }
    if (!token_.is(Tok::Name)) {
        unexpected("a type", "Fix: write a type such as `f32` or `u32x4`");
        return false;
    }
    const Token at = token_;
    Type theirs = foreign_type(at.text);
    take();
    if (token_.is(Op::LT)) {  // `vec4<f32>`, `array<f32, 4>`
        take();
        const Token inner = token_;
        Diagnostics* const report = lexer_.report_to(nullptr);
        while (!token_.is(Op::GT) && !token_.is(Op::SHR) && !token_.is(Tok::Semicolon) &&
               !token_.is(Tok::End))
            take();
        lexer_.report_to(report);
        if (!token_.is(Tok::Semicolon)) take();
        const Type component =
            inner.is(Tok::Type) ? type_from_code(inner.code).value_or(Type{}) : Type{};
        theirs = at.text == "atomic" ? component : component.with_lanes(theirs.lanes);
        if (component.none()) theirs = {};
    }
    std::string near = theirs.none() ? std::string(nearest(at.text, words_of(WordClass::Type)))
                                     : type_name(theirs);
    const bool array = at.text == "array";
    if (array) near = code_ != nullptr ? "var NAME: f32[4];" : "f32[]";
    error(at.place, fmt::format("{} is not a type", describe(at)),
          near.empty() ? "Fix: write a type such as `f32` or `u32x4`"
                       : fmt::format("Fix: write `{}`", near));
    out = Type{};
    return !array;
}

// Skips the rest of a statement or declaration: past the `;` or the block that ends it, or up to
// the beginning of the next one.
void Parser::skip_to_end(bool head) {
    int open = 0;
    for (bool first = true; !token_.is(Tok::End); first = false) {
        if (open == 0 && !first && starts_line() &&
            (begins_head(token_) ? head || token_.is(Key::MAIN)
                                 : begins_statement(token_) && !head))
            return;
        if (token_.is(Tok::LeftBrace)) ++open;
        if (token_.is(Tok::RightBrace)) {
            if (open == 0 && !head) return;
            if (open > 0 && --open == 0) {
                take();
                if (token_.is(Key::ELSE)) continue;  // the `else` belongs to the skipped `if`
                if (token_.is(Tok::Semicolon)) take();
                return;
            }
        }
        const bool ends = token_.is(Tok::Semicolon) && open == 0;
        take();
        if (ends) return;
    }
}

// ---- names --------------------------------------------------------------------------------

const Symbol* Parser::find(std::string_view text) const {
    const auto found = symbols_.find(text);
    return found == symbols_.end() ? nullptr : &found->second;
}

std::string Parser::article(const Symbol& symbol) const {
    switch (symbol.kind) {
        case Symbol::Kind::Constant:
            return "a constant";
        case Symbol::Kind::Param:
            return "a parameter";
        case Symbol::Kind::Buffer:
            return "a buffer";
        case Symbol::Kind::Table:
            return "a table";
        case Symbol::Kind::Function:
            return "a function";
        case Symbol::Kind::Local:
            break;
    }
    switch (code_->locals[symbol.index].form) {
        case Local::Form::Argument:
            return "an argument";
        case Local::Form::Let:
            return "a let";
        case Local::Form::Var:
            return "a var";
        case Local::Form::Array:
            return "an array";
        case Local::Form::For:
            return "a loop variable";
    }
    return "a name";
}

void Parser::declare(const Token& name, Symbol::Kind kind, std::size_t index) {
    const Symbol symbol{kind, static_cast<std::uint32_t>(index), name.place};
    const auto [at, fresh] = symbols_.emplace(name.text, symbol);
    if (fresh) {
        if (kind == Symbol::Kind::Local) local_names_.push_back(name.text);
        return;
    }
    if (kind == Symbol::Kind::Local && ended(at->second)) {
        if (code_->locals[at->second.index].form == Local::Form::Let)
            again_.push_back({at->second.index, name});
        at->second = symbol;
        local_names_.push_back(name.text);
        return;
    }
    already_declared(name, at->second);
}

void Parser::already_declared(const Token& name, const Symbol& earlier) {
    error(name.place,
          fmt::format("{} is already declared at {}, as {}", describe(name),
                      at_place(earlier.place), article(earlier)),
          "Fix: choose another name; an inner name never hides an outer one");
}

// Whether a name ended at a grid barrier. A let of level 0 does not end there, but levels are not
// known yet: lasting_lets() checks them.
bool Parser::ended(const Symbol& symbol) const {
    if (in_function_ || symbol.kind != Symbol::Kind::Local) return false;
    const Local::Form form = code_->locals[symbol.index].form;
    return form != Local::Form::For && phase_of_[symbol.index] < phase_;
}

// Reports names that are declared again although the earlier let has level 0 and so did not end.
// Called at the end of main, when levels are known.
void Parser::lasting_lets() {
    if (again_.empty() || !errors_.empty()) return;
    code_ = &program_.main;
    Program whole = program_;
    if (!validate(whole).empty()) return;
    const Uniformity levels = uniformity(whole);
    for (const Again& each : again_)
        if (levels.locals[each.earlier] == 0)
            already_declared(each.name, {Symbol::Kind::Local, each.earlier,
                                         program_.main.locals[each.earlier].place});
}

void Parser::close_scope(std::size_t mark) {
    for (; local_names_.size() > mark; local_names_.pop_back()) {
        const auto found = symbols_.find(local_names_.back());
        if (found == symbols_.end()) continue;  // erased with a later declaration of the name
        gone_[local_names_.back()] = found->second.place;
        symbols_.erase(found);
    }
}

// Collects the declarations of the whole text, to distinguish a use above its declaration from a
// misspelling.
void Parser::look_ahead() {
    if (looked_ahead_) return;
    looked_ahead_ = true;
    Lexer lexer(text_, nullptr);
    lexer.math_set(program_.math_set);
    int open = 0;
    for (Token token = lexer.next(); !token.is(Tok::End); token = lexer.next()) {
        if (token.is(Tok::LeftBrace)) ++open;
        if (token.is(Tok::RightBrace)) --open;
        if (open != 0 || !begins_head(token)) continue;
        token = lexer.next();
        if (token.is(Tok::Name)) later_.emplace(token.text, token.place);
        if (token.is(Tok::LeftBrace)) ++open;
    }
}

void Parser::unknown(const Token& name, std::string_view wanted) {
    if (!reported_.insert(name.text).second) return;
    look_ahead();
    const std::string shown = describe(name);
    if (const auto gone = gone_.find(name.text); gone != gone_.end()) {
        error(name.place,
              fmt::format("{} is out of scope here; the one declared at {} ends with its block",
                          shown, at_place(gone->second)),
              "Fix: declare it before that block, as a `var` if the block changes it");
        return;
    }
    if (const auto later = later_.find(name.text); later != later_.end()) {
        error(
            name.place,
            fmt::format("{} is used before its declaration at {}", shown, at_place(later->second)),
            "Fix: move the declaration above this use");
        return;
    }
    if (const Word later = classify_word(name.text, WYE_PROGRAM_NEWEST_MATH_SET);
        later.word == WordClass::Function) {
        const std::uint32_t set = op_math_set(static_cast<Op>(later.code));
        error(name.place,
              fmt::format("{} is a function of math set {}, and this program is of set {}", shown,
                          set, program_.math_set),
              fmt::format("Fix: write `math {};` directly after `wye 1;`", set));
        return;
    }
    const std::string what = fmt::format("there is no {} {}", wanted, shown);
    if (const std::string_view ours = foreign_name(name.text); !ours.empty()) {
        error(name.place, what, fmt::format("Fix: {}", ours));
        return;
    }
    if (const Type type = foreign_type(name.text); !type.none()) {
        error(name.place, what,
              fmt::format("Fix: write `{}`",
                          type.storage() ? type_name(type.loaded()) : type_name(type)));
        return;
    }
    std::vector<std::string_view> candidates;
    for (const auto& [text, symbol] : symbols_) candidates.push_back(text);
    std::sort(candidates.begin(), candidates.end());
    for (const WordClass word : {WordClass::Builtin, WordClass::Function, WordClass::Effect,
                                 WordClass::Constant, WordClass::Keyword})
        for (const std::string_view text : words_of(word, program_.math_set))
            candidates.push_back(text);
    const std::string_view near = nearest(name.text, candidates);
    error(name.place, what,
          near.empty() ? "Fix: declare it above, or correct the name"
                       : fmt::format("Fix: write `{}`, or declare {} above", near, shown));
}

}  // namespace detail

bool ParseResult::ok() const {
    return std::none_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& d) {
        return d.severity == Diagnostic::Severity::Error;
    });
}

ParseResult parse(std::string_view text) { return detail::Parser(text).run(); }

}  // namespace wye::ir
