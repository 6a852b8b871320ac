// SPDX-License-Identifier: Apache-2.0
// The language reference and the parser have the same words and operators.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "program/text/lexer.hpp"
#include "program/text/words.hpp"
#include "support/grammar.hpp"
#include "support/language.hpp"

namespace {

using wye::ir::WordClass;

std::set<std::string> words_in(std::initializer_list<WordClass> classes) {
    std::set<std::string> out;
    for (const WordClass word : classes)
        for (const std::string_view text : wye::ir::words_of(word)) out.emplace(text);
    return out;
}

std::set<std::string> all_words() {
    return words_in({WordClass::Keyword, WordClass::Role, WordClass::Type, WordClass::Builtin,
                     WordClass::Function, WordClass::Effect, WordClass::Constant});
}

bool one_token(const std::string& text) {
    wye::ir::Diagnostics errors;
    wye::ir::Lexer lexer(text, &errors);
    const wye::ir::Token token = lexer.next();
    const bool mark = token.tok >= wye::ir::Tok::Operator && token.text == text;  // not a comment
    return mark && lexer.next().is(wye::ir::Tok::End) && errors.empty();
}

// All operators and punctuation that the lexer knows, found by trying.
std::set<std::string> all_marks() {
    const std::string characters = "!#$%&'()*+,-./:;<=>?@[\\]^`{|}~";
    std::set<std::string> out;
    std::vector<std::string> texts = {""};
    for (int length = 1; length <= 3; ++length) {
        std::vector<std::string> longer;
        for (const std::string& text : texts)
            for (const char c : characters) longer.push_back(text + c);
        for (const std::string& text : longer)
            if (one_token(text)) out.insert(text);
        texts = std::move(longer);
    }
    return out;
}

std::set<std::string> without(std::set<std::string> from, const std::set<std::string>& remove) {
    for (const std::string& text : remove) from.erase(text);
    return from;
}

std::string joined(const std::set<std::string>& texts) {
    std::string out;
    for (const std::string& text : texts) out += text + " ";
    return out;
}

void check_same(const std::set<std::string>& documented, const std::set<std::string>& accepted) {
    CHECK(joined(without(accepted, documented)) == "");  // not documented
    CHECK(joined(without(documented, accepted)) == "");  // documented, but unknown to the parser
}

bool names_token(const std::string& code, const std::string& word) {
    const auto part = [](char c) { return wye::ir::letter(c) || wye::ir::digit(c); };
    for (std::size_t at = code.find(word); at != std::string::npos; at = code.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if (!part(word[0]) ||
            ((at == 0 || !part(code[at - 1])) && (end == code.size() || !part(code[end]))))
            return true;
    }
    return false;
}

// `kForms`: entries that are no tokens. `kPlainMarks`: punctuation without an entry.
const std::set<std::string> kForms = {"T(x)", "T(a, b)"};
const std::set<std::string> kPlainMarks = {"(", ")", "{", "}", ",", ";", ":", "->"};

}  // namespace

TEST_CASE("the reference has an entry for each word and operator of the language, and no other") {
    std::set<std::string> documented;
    for (const support::ReferenceEntry& entry : support::language_reference().entries)
        for (const std::string& word : entry.words) {
            CAPTURE(word);
            CHECK(documented.insert(word).second);  // the word is in one entry only
        }
    std::set<std::string> accepted = without(all_marks(), kPlainMarks);
    for (const std::string_view word : wye::ir::hint_words()) accepted.emplace(word);
    accepted.emplace(wye::ir::kMathWord);
    for (const std::string& word : all_words()) {
        // A vector type belongs to the entry of its component type.
        const bool vector = word.size() > 3 && word[word.size() - 2] == 'x' &&
                            wye::ir::classify_word(word).word == WordClass::Type;
        accepted.insert(vector ? word.substr(0, word.size() - 2) : word);
    }
    check_same(without(documented, kForms), accepted);
    CHECK(joined(without(kForms, documented)) == "");
}

TEST_CASE("the examples of each entry use each of its words") {
    const support::Reference reference = support::language_reference();
    CHECK(reference.examples.size() > 90);
    for (const support::ReferenceEntry& entry : reference.entries) {
        CAPTURE(entry.line);
        CHECK(entry.code != "");
        for (const std::string& word : entry.words) {
            CAPTURE(word);
            CHECK((kForms.count(word) != 0 || names_token(entry.code, word)));
        }
    }
}

TEST_CASE("the grammar has the words and marks of the language, and no other") {
    const support::Grammar grammar(support::language_reference().grammar);
    check_same(grammar.reserved(), all_words());
    std::set<std::string> marks = grammar.tokens_of("UPDATE");
    for (const std::string& text : grammar.literals())
        if (!wye::ir::letter(text[0]) && !wye::ir::digit(text[0])) marks.insert(text);
    marks.merge(grammar.tokens_of("COMPARE"));
    check_same(marks, all_marks());

    const std::vector<std::pair<std::string, WordClass>> classes = {
        {"ROLE", WordClass::Role},
        {"TYPE", WordClass::Type},
        {"BUILT_IN", WordClass::Builtin},
        {"FUNCTION", WordClass::Function}};
    for (const auto& [rule, word] : classes) check_same(grammar.tokens_of(rule), words_in({word}));

    std::set<std::string> hints;
    for (const char* rule : {"COALESCE", "PREFER_ALIGN", "LOCALITY", "USE"})
        hints.merge(grammar.tokens_of(rule));
    std::set<std::string> accepted;
    for (const std::string_view word : wye::ir::hint_words()) accepted.emplace(word);
    check_same(hints, accepted);
}

TEST_CASE("words that mean something in one place only are free to be names") {
    for (const std::string_view word : wye::ir::hint_words()) CHECK(wye::ir::legal_name(word));
    CHECK(wye::ir::legal_name(wye::ir::kMathWord, 2));
    for (const std::string_view word : {"expm1", "log1p", "sinpi", "cospi"}) {
        CHECK(wye::ir::legal_name(word));
        CHECK_FALSE(wye::ir::legal_name(word, 2));
    }
}
