// SPDX-License-Identifier: Apache-2.0
#include "program/text/words.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "wye/sdk/lasting.hpp"
#include "wye/sdk/nearest.hpp"
#include "wye/sdk/printable.hpp"

namespace wye::ir {
namespace {

using WordTable = std::unordered_map<std::string_view, Word>;

WordTable make_table() {
    WordTable table;
    auto add = [&table](std::string_view text, WordClass word, unsigned code) {
        table.emplace(text, Word{word, static_cast<std::uint16_t>(code)});
    };
#define WYE_TEXT_KEY(name, text) add(text, WordClass::Keyword, static_cast<unsigned>(Key::name));
    WYE_TEXT_KEYS(WYE_TEXT_KEY)
#undef WYE_TEXT_KEY
#define WYE_TEXT_ROLE(name, code, text) add(text, WordClass::Role, code);
    WYE_ROLES(WYE_TEXT_ROLE)
#undef WYE_TEXT_ROLE
#define WYE_TEXT_TYPE(name, code, text, bytes, bits)    \
    add(text, WordClass::Type, WYE_TYPE(code, 1));      \
    add(text "x2", WordClass::Type, WYE_TYPE(code, 2)); \
    add(text "x3", WordClass::Type, WYE_TYPE(code, 3)); \
    add(text "x4", WordClass::Type, WYE_TYPE(code, 4));
    WYE_KINDS(WYE_TEXT_TYPE)
#undef WYE_TEXT_TYPE
#define WYE_TEXT_BUILTIN(name, index, text, lanes) add(text, WordClass::Builtin, index);
    WYE_BUILTINS(WYE_TEXT_BUILTIN)
#undef WYE_TEXT_BUILTIN
#define WYE_TEXT_FUNCTION(name, code, text, operands) \
    if (letter((text)[0])) add(text, WordClass::Function, code);
    WYE_OPERATORS(WYE_TEXT_FUNCTION)
    WYE_MATH(WYE_TEXT_FUNCTION)
#undef WYE_TEXT_FUNCTION
    add("select", WordClass::Function, static_cast<unsigned>(Op::SELECT));
#define WYE_TEXT_EFFECT(name, code, text, operands) add(text, WordClass::Effect, code);
    WYE_EFFECTS(WYE_TEXT_EFFECT)
#undef WYE_TEXT_EFFECT
    auto constant = [&add](std::string_view text, ConstantWord word) {
        add(text, WordClass::Constant, static_cast<unsigned>(word));
    };
    constant("true", ConstantWord::True);
    constant("false", ConstantWord::False);
    constant("inf_f16", ConstantWord::InfF16);
    constant("inf_f32", ConstantWord::InfF32);
    constant("inf_f64", ConstantWord::InfF64);
    constant("nan_f16", ConstantWord::NanF16);
    constant("nan_f32", ConstantWord::NanF32);
    constant("nan_f64", ConstantWord::NanF64);
    return table;
}

const WordTable& words() {
    static const sdk::Lasting<const WordTable> table(make_table);
    return *table;
}

bool reserved_in(const Word& word, std::uint32_t math_set) {
    return word.word != WordClass::Function || op_math_set(static_cast<Op>(word.code)) <= math_set;
}

}  // namespace

Word classify_word(std::string_view text, std::uint32_t math_set) {
    const auto found = words().find(text);
    return found == words().end() || !reserved_in(found->second, math_set) ? Word{} : found->second;
}

HintWord hint_word(std::string_view text) {
#define WYE_TEXT_HINT(name, word) \
    if (text == (word)) return HintWord::name;
    WYE_TEXT_HINTS(WYE_TEXT_HINT)
#undef WYE_TEXT_HINT
    return HintWord::None;
}

std::vector<std::string_view> hint_words() {
    return {
#define WYE_TEXT_HINT(name, text) text,
        WYE_TEXT_HINTS(WYE_TEXT_HINT)
#undef WYE_TEXT_HINT
#define WYE_TEXT_LOCALITY(name, code, text) text,
            WYE_LOCALITIES(WYE_TEXT_LOCALITY)
#undef WYE_TEXT_LOCALITY
    };
}

bool name_shaped(std::string_view text) {
    if (text.empty() || text.size() > WYE_LIMIT_NAME_BYTES || !letter(text[0])) return false;
    return std::all_of(text.begin(), text.end(), [](char c) { return letter(c) || digit(c); });
}

bool legal_name(std::string_view text, std::uint32_t math_set) {
    return name_shaped(text) && classify_word(text, math_set).word == WordClass::None;
}

bool legal_string(std::string_view text) {
    const bool printable = std::none_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\t') || byte == 0x7f;
    });
    return printable && utf8_error(text) == text.size();
}

std::size_t utf8_error(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
        std::uint32_t code = 0;
        const std::size_t size = sdk::utf8_sequence(text.substr(at), code);
        if (size == 0) break;
        at += size;
    }
    return at;
}

std::string_view nearest(std::string_view text, const std::vector<std::string_view>& candidates) {
    return sdk::nearest(text, candidates);
}

std::vector<std::string_view> words_of(WordClass word, std::uint32_t math_set) {
    std::vector<std::string_view> found;
    for (const auto& [text, entry] : words())
        if (entry.word == word && reserved_in(entry, math_set)) found.push_back(text);
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace wye::ir
