// SPDX-License-Identifier: Apache-2.0
#include "program/text/lexer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace wye::ir {
namespace {

bool hex_digit(char c) { return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

struct Mark {
    std::string_view text;
    Tok tok;
    Op op;
};

// Operators and punctuation, the longest first.
constexpr std::array<Mark, 47> kMarks = {{
    {"<<=", Tok::OpAssign, Op::SHL},       {">>=", Tok::OpAssign, Op::SHR},
    {"->", Tok::Arrow, Op::None},          {"..", Tok::DotDot, Op::None},
    {"||", Tok::Operator, Op::LOGICAL_OR}, {"&&", Tok::Operator, Op::LOGICAL_AND},
    {"==", Tok::Operator, Op::EQ},         {"!=", Tok::Operator, Op::NE},
    {"<=", Tok::Operator, Op::LE},         {">=", Tok::Operator, Op::GE},
    {"<<", Tok::Operator, Op::SHL},        {">>", Tok::Operator, Op::SHR},
    {"+=", Tok::OpAssign, Op::ADD},        {"-=", Tok::OpAssign, Op::SUB},
    {"*=", Tok::OpAssign, Op::MUL},        {"/=", Tok::OpAssign, Op::DIV},
    {"%=", Tok::OpAssign, Op::REM},        {"&=", Tok::OpAssign, Op::AND},
    {"|=", Tok::OpAssign, Op::OR},         {"^=", Tok::OpAssign, Op::XOR},
    {"<", Tok::Operator, Op::LT},          {">", Tok::Operator, Op::GT},
    {"+", Tok::Operator, Op::ADD},         {"-", Tok::Operator, Op::SUB},
    {"*", Tok::Operator, Op::MUL},         {"/", Tok::Operator, Op::DIV},
    {"%", Tok::Operator, Op::REM},         {"&", Tok::Operator, Op::AND},
    {"|", Tok::Operator, Op::OR},          {"^", Tok::Operator, Op::XOR},
    {"~", Tok::Operator, Op::NOT},         {"!", Tok::Operator, Op::LOGICAL_NOT},
    {"=", Tok::Assign, Op::None},          {".", Tok::Dot, Op::None},
    {",", Tok::Comma, Op::None},           {";", Tok::Semicolon, Op::None},
    {":", Tok::Colon, Op::None},           {"(", Tok::LeftParen, Op::None},
    {")", Tok::RightParen, Op::None},      {"{", Tok::LeftBrace, Op::None},
    {"}", Tok::RightBrace, Op::None},      {"[", Tok::LeftBracket, Op::None},
    {"]", Tok::RightBracket, Op::None},
}};

Tok token_of(WordClass word) {
    switch (word) {
        case WordClass::Keyword:
            return Tok::Keyword;
        case WordClass::Role:
            return Tok::Role;
        case WordClass::Type:
            return Tok::Type;
        case WordClass::Builtin:
            return Tok::Builtin;
        case WordClass::Function:
            return Tok::Function;
        case WordClass::Effect:
            return Tok::Effect;
        case WordClass::Constant:
            return Tok::Constant;
        case WordClass::None:
            break;
    }
    return Tok::Name;
}

}  // namespace

void Diagnostics::add(Place place, std::string message, std::string fix) {
    if (full()) return;
    Diagnostic diagnostic;
    diagnostic.place = place;
    diagnostic.message = std::move(message);
    diagnostic.fix = std::move(fix);
    list_.push_back(std::move(diagnostic));
}

Place Lexer::here() const {
    return {line_, static_cast<std::uint32_t>(at_ - line_begin_ - line_extra_ + 1)};
}

void Lexer::report(Place place, std::string message, std::string fix) {
    if (errors_ != nullptr) errors_->add(place, std::move(message), std::move(fix));
}

void Lexer::advance(std::size_t bytes) {
    for (const std::size_t end = at_ + bytes; at_ < end; ++at_) {
        const char c = text_[at_];
        if (c == '\n') {
            ++line_;
            line_begin_ = at_ + 1;
            line_extra_ = 0;
        } else if ((static_cast<unsigned char>(c) & 0xc0U) == 0x80) {
            ++line_extra_;
        }
    }
}

void Lexer::skip_blanks() {
    for (;;) {
        const char c = at(0);
        if (c == ' ' || c == '\t' || c == '\r') {
            ++at_;
        } else if (c == '\n') {
            advance(1);
        } else if (c == '/' && at(1) == '/') {
            const std::size_t end = text_.find('\n', at_);
            advance((end == std::string_view::npos ? text_.size() : end) - at_);
        } else {
            return;
        }
    }
}

Token Lexer::finish(Token token, Tok tok, std::size_t bytes, unsigned code) {
    token.tok = tok;
    token.code = static_cast<std::uint16_t>(code);
    token.text = text_.substr(at_, bytes);
    advance(bytes);
    token.end = here();
    return token;
}

Token Lexer::word(Token token) {
    std::size_t bytes = 1;
    while (letter(at(bytes)) || digit(at(bytes))) ++bytes;
    const Word found = classify_word(text_.substr(at_, bytes), math_set_);
    if (bytes > WYE_LIMIT_NAME_BYTES)
        report(token.place,
               fmt::format("this name has {} bytes; a name has at most {}", bytes,
                           WYE_LIMIT_NAME_BYTES),
               "Fix: shorten the name");
    return finish(token, token_of(found.word), bytes, found.code);
}

// Reads everything that looks like a number, well-formed or not. Stops before the points of `0..n`.
Token Lexer::number(Token token) {
    const bool hex = at(0) == '0' && (at(1) == 'x' || at(1) == 'X');
    const bool bin = at(0) == '0' && (at(1) == 'b' || at(1) == 'B');
    bool point = false;
    bool exponent = false;
    bool suffix = false;
    std::size_t bytes = hex || bin ? 2 : 1;
    for (;; ++bytes) {
        const char c = at(bytes);
        const char next = at(bytes + 1);
        if (c == '.' && !point && !exponent && !suffix && (hex ? hex_digit(next) : digit(next))) {
            point = true;
        } else if (letter(c) || digit(c)) {
            const bool mark = hex ? (c == 'p' || c == 'P') : !bin && (c == 'e' || c == 'E');
            if (mark && !exponent && !suffix) {
                exponent = true;
                if ((next == '-' || next == '+') && digit(at(bytes + 2))) ++bytes;
            } else if (letter(c) && c != '_' && !(hex && !exponent && hex_digit(c))) {
                suffix = true;
            }
        } else {
            break;
        }
    }
    return finish(token, Tok::Number, bytes);
}

Token Lexer::string(Token token) {
    std::size_t bytes = 1;
    for (;; ++bytes) {
        const char c = at(bytes);
        if (c == '"') break;
        if (at_ + bytes >= text_.size() || c == '\n' || c == '\r') {
            report(token.place, "this string does not end on its line",
                   "Fix: close it with `\"`; longer text goes between \"\"\" marks");
            return finish(token, Tok::Bad, bytes);
        }
        if (c != '\\') continue;
        const char escaped = at(bytes + 1);
        if (escaped == '"' || escaped == '\\') {
            ++bytes;
        } else {
            report(token.place, "a string has the escapes `\\\"` and `\\\\` only",
                   "Fix: write `\\\\` for one backslash");
        }
    }
    Token out = finish(token, Tok::String, bytes + 1);
    out.text = out.text.substr(1, bytes - 1);
    if (!legal_string(out.text))
        report(token.place, "this string holds a control character", "Fix: remove it");
    return out;
}

// Reads a raw text. It ends at the first run of three or more quotation marks; the last three of
// the run close it.
Token Lexer::raw(Token token) {
    std::size_t end = text_.find("\"\"\"", at_ + 3);
    if (end == std::string_view::npos) {
        report(token.place, "this text has no closing \"\"\"", "Fix: close it with \"\"\"");
        return finish(token, Tok::Bad, text_.size() - at_);
    }
    while (end + 3 < text_.size() && text_[end + 3] == '"') ++end;
    const std::size_t bytes = end + 3 - at_;
    Token out = finish(token, Tok::Raw, bytes);
    out.text = out.text.substr(3, bytes - 6);
    return out;
}

bool Lexer::punctuation(Token& token) {
    const std::string_view rest = text_.substr(at_, 3);
    for (const Mark& mark : kMarks) {
        if (mark.text.empty() || mark.text[0] != rest[0] || !rest.starts_with(mark.text)) continue;
        token = finish(token, mark.tok, mark.text.size(), static_cast<unsigned>(mark.op));
        return true;
    }
    return false;
}

Token Lexer::next() {
    for (;;) {
        skip_blanks();
        Token token;
        token.place = here();
        if (at_ >= text_.size()) return finish(token, Tok::End, 0);
        const char c = at(0);
        if (letter(c)) return word(token);
        if (digit(c)) return number(token);
        if (c == '"') return at(1) == '"' && at(2) == '"' ? raw(token) : string(token);
        if (c == '/' && at(1) == '*') {
            report(token.place, "a comment begins with `//`", "Fix: write `//` on each line");
            const std::size_t end = text_.find("*/", at_ + 2);
            advance((end == std::string_view::npos ? text_.size() : end + 2) - at_);
            continue;
        }
        if (punctuation(token)) return token;
        if (c == '#') {
            const std::size_t end = std::min(text_.find('\n', at_), text_.size());
            preprocessor(token, text_.substr(at_, end - at_));
            if (errors_ == nullptr) return finish(token, Tok::Bad, end - at_);
            advance(end - at_);
            continue;
        }
        return meaningless(token);
    }
}

// Reports a line that begins with `#`.
void Lexer::preprocessor(const Token& token, std::string_view line) {
    line = line.substr(std::min(line.find_first_not_of("# \t"), line.size()));
    const auto is = [&](std::string_view word) { return line.starts_with(word); };
    if (is("define")) {
        report(token.place, "there is no preprocessor",
               "Fix: declare a number above `main`, as in `const N = 64;`");
    } else if (is("include") || is("version") || is("pragma") || is("extension") || is("if") ||
               is("endif") || is("else") || is("undef")) {
        report(token.place, "there is no preprocessor", "Fix: remove this line");
    } else {
        report(token.place, "a comment begins with `//`", "Fix: write `//` instead of `#`");
    }
}

// Reports characters that no rule uses.
Token Lexer::meaningless(Token token) {
    const char c = at(0);
    const auto byte = static_cast<unsigned char>(c);
    std::size_t bytes = 1;
    while ((static_cast<unsigned char>(at(bytes)) & 0xc0U) == 0x80) ++bytes;
    if (c == '\'' && at(2) == '\'') {
        report(token.place, "there are no character literals",
               fmt::format("Fix: write the character's number, {}",
                           static_cast<unsigned>(static_cast<unsigned char>(at(1)))));
        return finish(token, Tok::Bad, 3);
    }
    if (byte < 0x20 || byte == 0x7f) {
        report(token.place, fmt::format("byte {} is not allowed in a program", byte),
               "Fix: remove it");
    } else {
        report(token.place, fmt::format("`{}` has no meaning here", text_.substr(at_, bytes)),
               c == '?'   ? "Fix: choose with `select(condition, a, b)`"
               : c == '@' ? "Fix: remove the attribute; the size stands above `main`, as in "
                            "`workgroup 64;`"
                          : "Fix: remove it; names have letters a to z, digits and `_`");
    }
    // Reports a whole run of one character once.
    const std::string_view character = text_.substr(at_, bytes);
    while (text_.substr(at_ + bytes).starts_with(character)) bytes += character.size();
    return finish(token, Tok::Bad, bytes);
}

std::string unescape(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size()) ++i;
        out += text[i];
    }
    return out;
}

std::string describe(const Token& token) {
    switch (token.tok) {
        case Tok::End:
            return "the end of the text";
        case Tok::String:
            return "a string";
        case Tok::Raw:
            return "a text between \"\"\" marks";
        default:
            return "`" + std::string(token.text.substr(0, WYE_LIMIT_NAME_BYTES)) + "`";
    }
}

}  // namespace wye::ir
