// SPDX-License-Identifier: Apache-2.0
// The grammar in the language reference, compared with the parser: sentences of the grammar,
// sentences changed at random, numbers, and valid programs.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "program/check/validate.hpp"
#include "program/text/lexer.hpp"
#include "program/text/text.hpp"
#include "support/examples.hpp"
#include "support/grammar.hpp"
#include "support/language.hpp"
#include "support/random.hpp"
#include "support/sanitized.hpp"

#include "generated.hpp"

namespace {

using support::Grammar;
using support::Random;
using Sentence = std::vector<std::string>;

// Parts of the parser's messages about texts that have the right form, but no meaning.
constexpr std::array kMeaning = std::to_array<std::string_view>({
    // names
    "there is no name",
    "there is no array",
    "there is no function",
    "there is no constant",
    "there is no buffer",
    "is already declared",
    "is already given",
    "is given twice",
    "calls itself",
    "is out of scope",
    "is used before its declaration",
    // a name of the wrong kind
    "which cannot be assigned",
    "which cannot be written",
    ", not a function",
    "is a function",
    ", not a value",
    ", not an array",
    "not an array",
    "not a scalar integer",
    "is an array: one element",
    "takes an element of a buffer, but",
    "takes a buffer, but",
    "is an array, not a size",
    "is a number or an integer constant, but",
    "a size is made of integers",
    "a size cannot use the length",
    "is a whole number, but",
    // types, and numbers of arguments
    ", got ",
    "cannot convert",
    "cannot bitcast",
    "is a storage type",
    "is not a vector type",
    "nothing converts to bool",
    "has no component",
    "is declared ",
    "` returns b",
    "` returns f",
    "` returns i",
    "` returns u",
    "returns the storage type",
    "of `for` is",
    "`for` counts in",
    "no variable has type",
    "an array in a function cannot hold",
    "has the storage type",
    "gives no value for",
    "is an array, not a",
    "an element of `",
    // numbers out of range
    "is outside the range of",
    "cannot be negative",
    "beyond the largest finite",
    "is 2^64 or more",
    ", outside of ",
    "local arrays have at least",
    " are given",
    "is negative",
    " by zero",
    "overflows",
    "2^63",
    // the head
    "is a function of math set",
    "the program has no `workgroup`",
    "the workgroup has more than",
    "the subgroup size is",
    "which is not a multiple of",
    // a statement in a wrong place
    "a function has one `return`, at its end",
    // limits
    "deeper than",
    "too deeply",
});

const Grammar& reference_grammar() {
    static const Grammar grammar(support::language_reference().grammar);
    return grammar;
}

// Gives each name only once, so that no message is left out as a repetition.
Grammar::TokenSource fresh_names(Random& random, unsigned& count) {
    return [&random, &count](const std::string& rule) -> std::string {
        static const std::vector<std::string> strings = {R"("cuda-c")", R"("a \" b \\")", R"("")"};
        static const std::vector<std::string> raws = {R"("""code""")", R"("""a "b" c"""")"};
        if (rule == "NAME") return "name_" + std::to_string(count++);
        if (rule == "STRING") return random.pick(strings);
        if (rule == "RAW") return random.pick(raws);
        return {};
    };
}

std::string text_of(const Sentence& tokens, Random& random) {
    std::string out;
    for (const std::string& token : tokens) {
        out += token;
        out += random.chance(90) ? " " : random.chance(50) ? "\n" : " // \"{ comment\n";
    }
    return out;
}

std::string shown_messages(const std::vector<wye::ir::Diagnostic>& list) {
    std::string out;
    for (const auto& d : list) out += d.message + "\n";
    return out;
}

// The messages about the form of the text, without those about its meaning.
std::vector<wye::ir::Diagnostic> about_form(std::vector<wye::ir::Diagnostic> list) {
    std::erase_if(list, [](const wye::ir::Diagnostic& d) {
        return std::any_of(kMeaning.begin(), kMeaning.end(), [&](std::string_view part) {
            return d.message.find(part) != std::string::npos;
        });
    });
    return list;
}

// Whether the parser may have skipped the rest of a statement, so that the form of the rest is not
// judged.
bool gives_up(const std::vector<wye::ir::Diagnostic>& list) {
    const std::string messages = shown_messages(list);
    return list.size() >= wye::ir::kMaxDiagnostics ||
           messages.find("there is no effect") != std::string::npos ||
           messages.find("there is no buffer") != std::string::npos;
}

// A token as it is written in a text.
std::string token_text(const wye::ir::Token& token) {
    const std::string text(token.text);
    if (token.is(wye::ir::Tok::String)) return '"' + text + '"';
    return token.is(wye::ir::Tok::Raw) ? R"(""")" + text + R"(""")" : text;
}

Sentence tokens_of_text(const std::string& text) {
    wye::ir::Diagnostics errors;
    wye::ir::Lexer lexer(text, &errors);
    Sentence out;
    for (wye::ir::Token token = lexer.next(); !token.is(wye::ir::Tok::End); token = lexer.next())
        out.push_back(token_text(token));
    CHECK(errors.empty());
    return out;
}

std::string any_token(Random& random, unsigned& names) {
    static const std::vector<std::string> literals(reference_grammar().literals().begin(),
                                                   reference_grammar().literals().end());
    static const std::vector<std::string> rules = {
        "NAME", "NUMBER",       "INTEGER",  "TYPE",       "COMPONENT", "FUNCTION",
        "ROLE", "COMPARE",      "BUILT_IN", "ON_ELEMENT", "ON_VALUES", "COALESCE",
        "AXIS", "PREFER_ALIGN", "LOCALITY", "USE",        "MATH"};
    if (random.chance(60)) return random.pick(literals);
    const std::string rule = random.pick(rules);
    std::string out;
    std::string token = fresh_names(random, names)(rule);
    if (!token.empty()) return token;
    for (const std::string& part :
         reference_grammar().sentence(random, rule, 8, [](const std::string&) { return ""; }))
        out += part;
    return out;
}

// Whether the grammar takes names in the program for functions of math set 2, although the program
// is of set 1, in which these names are not reserved.
bool names_of_set_2(const Sentence& tokens) {
    return (tokens.size() < 6 || tokens[3] != "math" || tokens[4] != "2") &&
           std::any_of(tokens.begin(), tokens.end(), [](const std::string& token) {
               return wye::ir::legal_name(token) && !wye::ir::legal_name(token, 2);
           });
}

void change(Sentence& tokens, Random& random, unsigned& names) {
    const std::size_t at = random.below(tokens.size());
    const auto place = tokens.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random.below(4)) {
        case 0:
            tokens.erase(place);
            return;
        case 1:
            tokens.insert(place, any_token(random, names));
            return;
        case 2:
            *place = any_token(random, names);
            return;
        default:
            if (at > 0) std::swap(tokens[at], tokens[at - 1]);
            return;
    }
}

}  // namespace

TEST_CASE("the parser accepts the form of each sentence of the grammar") {
    Random random(1);
    for (int round = 0; round < (support::kSanitized ? 500 : 3000); ++round) {
        unsigned names = 0;
        const bool few = round % 2 == 0;  // few names, so that many are known
        const auto fresh = fresh_names(random, names);
        const Sentence tokens = reference_grammar().sentence(
            random, "program", 14, [&](const std::string& rule) -> std::string {
                if (few && rule == "NAME") return std::string(1, "abcdxy"[random.below(6)]);
                return fresh(rule);
            });
        REQUIRE(reference_grammar().holds("program", tokens));
        const std::string text = text_of(tokens, random);
        const auto list = about_form(wye::ir::parse(text).diagnostics);
        CAPTURE(text);
        REQUIRE(shown_messages(list) == "");
    }
}

TEST_CASE("the parser refuses what the grammar does not have, and nothing else") {
    Random random(2);
    constexpr unsigned kRounds = support::kSanitized ? 2000 : 12000;
    unsigned outside = 0;
    for (unsigned round = 0; round < kRounds; ++round) {
        unsigned names = 0;
        Sentence tokens =
            reference_grammar().sentence(random, "program", 10, fresh_names(random, names));
        for (std::uint64_t n = 1 + random.below(2); n > 0 && !tokens.empty(); --n)
            change(tokens, random, names);
        if (names_of_set_2(tokens)) continue;
        const bool inside = reference_grammar().holds("program", tokens);
        const std::string text = text_of(tokens, random);
        const wye::ir::ParseResult parsed = wye::ir::parse(text);
        CAPTURE(text);
        CAPTURE(shown_messages(parsed.diagnostics));
        outside += inside ? 0 : 1;
        if (inside) {
            REQUIRE(shown_messages(about_form(parsed.diagnostics)) == "");
        } else {
            REQUIRE(!parsed.ok());
            REQUIRE((gives_up(parsed.diagnostics) || !about_form(parsed.diagnostics).empty()));
        }
    }
    CHECK(outside > kRounds / 2);
}

TEST_CASE("the parser reads the numbers of the grammar, and no others") {
    Random random(3);
    const std::string alphabet = "0123456789abefinpux_.+-ABEFPX";
    unsigned outside = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string number;
        for (const std::string& part : reference_grammar().sentence(
                 random, "NUMBER", 8, [](const std::string&) { return ""; }))
            number += part;
        if (random.chance(60))
            number[random.below(number.size())] = alphabet[random.below(alphabet.size())];
        // A number begins with a digit, and contains no second token.
        if (!wye::ir::digit(number[0]) || tokens_of_text(number).size() != 1) continue;
        const bool inside = reference_grammar().token_is("NUMBER", number);
        outside += inside ? 0 : 1;
        const auto parsed =
            wye::ir::parse("wye 1; program p; workgroup 1; const c = " + number + "; main { }");
        CAPTURE(number);
        CAPTURE(shown_messages(parsed.diagnostics));
        CHECK(about_form(parsed.diagnostics).empty() == inside);
    }
    CHECK(outside > 2000);
}

TEST_CASE("valid programs are sentences of the grammar") {
    std::vector<std::string> texts;
    for (const std::string& name : support::example_programs())
        texts.push_back(support::example_text(name));
    for (const support::ReferenceExample& example : support::language_reference().examples)
        texts.push_back(example.text);
    for (std::uint64_t seed = 0; seed < (support::kSanitized ? 25 : 150); ++seed)
        texts.push_back(wye::ir::print(test::generated(seed)));
    for (const std::string& text : texts) {
        const Sentence tokens = tokens_of_text(text);
        if (names_of_set_2(tokens)) continue;
        CAPTURE(text);
        CHECK(reference_grammar().holds("program", tokens));
    }
}
