// SPDX-License-Identifier: Apache-2.0
//
// Grammar: reads a grammar in EBNF, makes random sentences of the grammar, and tests whether a text
// is a sentence. Rules in capitals are tokens, made of characters; all other rules are made of
// tokens. No rule may begin with itself. To be used by one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/random.hpp"

namespace support {

struct GrammarNode {
    enum class Kind { Literal, Range, Rule, Special, Sequence, Choice, Optional, Repeat };
    Kind kind = Kind::Sequence;
    std::string text;  // a literal, a rule's name, a special sequence, or a range's two ends
    std::vector<GrammarNode> parts;
};

class Grammar {
  public:
    // Throws std::runtime_error if the text is no grammar, or uses an undefined rule.
    explicit Grammar(std::string_view ebnf);

    // A function that makes a token of a rule. If it returns an empty string, the grammar makes the
    // token.
    using TokenSource = std::function<std::string(const std::string& rule)>;
    // Makes a random sentence, as tokens. Below a nesting of `depth`, rules take their shortest
    // forms.
    [[nodiscard]] std::vector<std::string> sentence(Random& random, const std::string& start,
                                                    unsigned depth,
                                                    const TokenSource& source) const;

    // Whether the tokens are a sentence of the rule `start`.
    [[nodiscard]] bool holds(const std::string& start,
                             const std::vector<std::string>& tokens) const;
    // Whether the text is a token of the rule. A reserved word is not a token of NAME.
    [[nodiscard]] bool token_is(const std::string& rule, std::string_view text) const;

    // All tokens of a token rule, if there are finitely many; else empty.
    [[nodiscard]] std::set<std::string> tokens_of(const std::string& rule) const;
    // The literals of all rules that are not tokens.
    [[nodiscard]] const std::set<std::string>& literals() const { return literals_; }
    // The words that cannot be names: all literals, and the words of all finite token rules except
    // COMPONENT, MATH and the rules for hints.
    [[nodiscard]] const std::set<std::string>& reserved() const { return reserved_; }
    [[nodiscard]] const std::map<std::string, GrammarNode>& rules() const { return rules_; }

  private:
    struct Match;
    [[nodiscard]] unsigned height(const GrammarNode& node) const;
    void expand(Random& random, const GrammarNode& node, unsigned depth, bool lexical,
                const TokenSource& source, std::vector<std::string>& out) const;
    [[nodiscard]] bool finite(const GrammarNode& node, std::set<std::string>& out) const;
    void collect(const GrammarNode& node);

    std::map<std::string, GrammarNode> rules_;
    std::map<std::string, unsigned> heights_;  // the least nesting of a sentence of each rule
    std::map<std::string, std::set<std::string>> finite_;  // all tokens of each finite token rule
    std::set<std::string> literals_;
    std::set<std::string> reserved_;
};

}  // namespace support
