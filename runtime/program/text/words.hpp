// SPDX-License-Identifier: Apache-2.0
//
// The reserved words and legal names of the text form. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "wye/sdk/program.hpp"

namespace wye::ir {

// The keywords of the grammar.
#define WYE_TEXT_KEYS(X)            \
    X(WYE, "wye")                   \
    X(PROGRAM, "program")           \
    X(MAIN, "main")                 \
    X(WORKGROUP, "workgroup")       \
    X(ADJUSTABLE, "adjustable")     \
    X(SUBGROUP, "subgroup")         \
    X(CONST, "const")               \
    X(PARAM, "param")               \
    X(GRID, "grid")                 \
    X(ELEMENTS, "elements")         \
    X(GROUPS, "groups")             \
    X(TABLE, "table")               \
    X(FN, "fn")                     \
    X(RETURN, "return")             \
    X(VARIANT, "variant")           \
    X(ENTRY, "entry")               \
    X(FOR, "for")                   \
    X(FILE, "file")                 \
    X(TEXT, "text")                 \
    X(BINDING, "binding")           \
    X(ALIGN, "align")               \
    X(BYTES, "bytes")               \
    X(LIVE, "live")                 \
    X(UNSET, "unset")               \
    X(LET, "let")                   \
    X(VAR, "var")                   \
    X(IF, "if")                     \
    X(ELSE, "else")                 \
    X(IN, "in")                     \
    X(STEP, "step")                 \
    X(WHILE, "while")               \
    X(BREAK, "break")               \
    X(CONTINUE, "continue")         \
    X(BARRIER, "barrier")           \
    X(GRID_BARRIER, "grid_barrier") \
    X(TRAP, "trap")                 \
    X(BITCAST, "bitcast")           \
    X(LEN, "len")                   \
    X(LEN64, "len64")

// The first words of hints. These words, and the words for a locality, have a meaning only where a
// clause of a buffer may stand. Elsewhere they are ordinary names, since existing programs may use
// them as names.
#define WYE_TEXT_HINTS(X)           \
    X(COALESCE, "coalesce")         \
    X(PREFER_ALIGN, "prefer_align") \
    X(LOCALITY, "locality")

enum class HintWord : std::uint8_t {
    None,
#define WYE_TEXT_HINT(name, text) name,
    WYE_TEXT_HINTS(WYE_TEXT_HINT)
#undef WYE_TEXT_HINT
};

// The word of a math set's declaration. It has a meaning only after `wye 1;`, where no name may
// stand.
inline constexpr std::string_view kMathWord = "math";

enum class Key : std::uint16_t {
#define WYE_TEXT_KEY(name, text) name,
    WYE_TEXT_KEYS(WYE_TEXT_KEY)
#undef WYE_TEXT_KEY
};

enum class WordClass : std::uint8_t {
    None,      // not reserved, so a name
    Keyword,   // code: enum Key
    Role,      // code: enum Role
    Type,      // code: type code
    Builtin,   // code: enum wye_builtin
    Function,  // code: Op of a built-in function
    Effect,    // code: Op of an effect
    Constant   // code: enum ConstantWord
};

enum class ConstantWord : std::uint16_t {
    True,
    False,
    InfF16,
    InfF32,
    InfF64,
    NanF16,
    NanF32,
    NanF64
};

struct Word {
    WordClass word = WordClass::None;
    std::uint16_t code = 0;
};

// Whether a character is an ASCII letter or `_`: names and words consist of these and digits.
constexpr bool letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool digit(char c) { return c >= '0' && c <= '9'; }

// Returns the class of a word that is reserved in programs of a math set, or None for every other
// string. The functions of a later math set are not reserved.
[[nodiscard]] Word classify_word(std::string_view text,
                                 std::uint32_t math_set = WYE_PROGRAM_MATH_SET);

// Returns the hint whose clause begins with this word, or None for every other string.
[[nodiscard]] HintWord hint_word(std::string_view text);

// Returns all words that have a meaning only in a clause of a buffer: those of hints and
// localities.
[[nodiscard]] std::vector<std::string_view> hint_words();

// Whether `text` consists of 1 to 64 letters, digits and `_` and does not begin with a digit.
// Accepts reserved words.
[[nodiscard]] bool name_shaped(std::string_view text);

// Whether `text` is name_shaped and not reserved in programs of a math set.
[[nodiscard]] bool legal_name(std::string_view text, std::uint32_t math_set = WYE_PROGRAM_MATH_SET);

// Whether `text` is UTF-8 without control characters other than tab.
[[nodiscard]] bool legal_string(std::string_view text);

// Returns the byte offset of the first byte that is not well-formed UTF-8, or text.size() if there
// is none.
[[nodiscard]] std::size_t utf8_error(std::string_view text);

// Returns the candidate nearest to `text`, if it is so near that `text` may be a misspelling of it;
// else an empty string.
[[nodiscard]] std::string_view nearest(std::string_view text,
                                       const std::vector<std::string_view>& candidates);

// Returns all words of one class that are reserved in programs of a math set, for suggestions.
[[nodiscard]] std::vector<std::string_view> words_of(
    WordClass word, std::uint32_t math_set = WYE_PROGRAM_NEWEST_MATH_SET);

}  // namespace wye::ir
