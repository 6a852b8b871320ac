// SPDX-License-Identifier: Apache-2.0
//
// The lexer: splits text into tokens, one at a time. Tokens are views of the text, which must
// outlive them. Columns count characters, not bytes. Used by one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/diagnostic.hpp"
#include "program/text/words.hpp"

namespace wye::ir {

enum class Tok : std::uint8_t {
    End,
    Name,      // a word that is not reserved
    Keyword,   // code: enum Key
    Role,      // code: enum Role
    Type,      // code: type code
    Builtin,   // code: enum wye_builtin
    Function,  // code: Op
    Effect,    // code: Op
    Constant,  // code: enum ConstantWord
    Number,    // a number as written
    String,    // the text between the quotation marks, escapes included
    Raw,       // the text between the triple marks
    Bad,       // unreadable text, already reported, so that rules do not report it again
    Operator,  // code: Op
    OpAssign,  // code: Op of the operator before `=`
    Assign,
    Arrow,
    Dot,
    DotDot,
    Comma,
    Semicolon,
    Colon,
    LeftParen,
    RightParen,
    LeftBrace,
    RightBrace,
    LeftBracket,
    RightBracket,
};

struct Token {
    Tok tok = Tok::End;
    std::uint16_t code = 0;
    Place place;
    Place end;  // the position after the token
    std::string_view text;

    [[nodiscard]] bool is(Tok kind) const { return tok == kind; }
    [[nodiscard]] bool is(Key key) const {
        return tok == Tok::Keyword && code == static_cast<std::uint16_t>(key);
    }
    [[nodiscard]] bool is(Op op) const {
        return tok == Tok::Operator && code == static_cast<std::uint16_t>(op);
    }
    [[nodiscard]] Op op() const { return static_cast<Op>(code); }
};

// Collects up to kMaxDiagnostics errors. The limit keeps long wrong inputs cheap.
class Diagnostics {
  public:
    void add(Place place, std::string message, std::string fix);
    [[nodiscard]] bool full() const { return list_.size() >= kMaxDiagnostics; }
    [[nodiscard]] bool empty() const { return list_.empty(); }
    void clear() { list_.clear(); }
    [[nodiscard]] std::vector<Diagnostic> take() { return std::move(list_); }

  private:
    std::vector<Diagnostic> list_;
};

// Splits a text into tokens. Reports unreadable text to `diagnostics` and continues after it.
// `text` must be valid UTF-8.
class Lexer {
  public:
    Lexer(std::string_view text, Diagnostics* diagnostics) : text_(text), errors_(diagnostics) {}
    [[nodiscard]] Token next();
    // From now on reports to `diagnostics`; null: reports nothing. Returns the previous receiver.
    Diagnostics* report_to(Diagnostics* diagnostics) { return std::exchange(errors_, diagnostics); }
    // From the next token on, the functions of this math set are reserved words.
    void math_set(std::uint32_t set) { math_set_ = set; }

  private:
    [[nodiscard]] char at(std::size_t ahead) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }
    [[nodiscard]] Place here() const;
    void skip_blanks();
    void advance(std::size_t bytes);
    Token finish(Token token, Tok tok, std::size_t bytes, unsigned code = 0);
    Token word(Token token);
    Token number(Token token);
    Token string(Token token);
    Token raw(Token token);
    bool punctuation(Token& token);
    Token meaningless(Token token);
    void preprocessor(const Token& token, std::string_view line);
    void report(Place place, std::string message, std::string fix);

    std::string_view text_;
    Diagnostics* errors_;  // null for look-ahead, which reports nothing
    std::size_t at_ = 0;
    std::uint32_t line_ = 1;
    std::size_t line_begin_ = 0;
    std::size_t line_extra_ = 0;  // number of UTF-8 continuation bytes so far in this line
    std::uint32_t math_set_ = WYE_PROGRAM_MATH_SET;
};

// Returns a string token's characters, with `\"` and `\\` resolved.
[[nodiscard]] std::string unescape(std::string_view text);

// Returns the name of a token for a message: "`;`", "a number", "the end of the text".
[[nodiscard]] std::string describe(const Token& token);

}  // namespace wye::ir
