// SPDX-License-Identifier: Apache-2.0
#include "support/grammar.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>
#include <utility>

namespace support {
namespace {

using GrammarKind = GrammarNode::Kind;

constexpr unsigned kEndless = 1U << 20U;

// Token rules whose words may also be names.
constexpr std::array<std::string_view, 7> kFreeWords = {
    "COMPONENT", "COALESCE", "AXIS", "PREFER_ALIGN", "LOCALITY", "USE", "MATH"};

bool token_rule(const std::string& name) {
    return std::isupper(static_cast<unsigned char>(name[0])) != 0;
}

class EbnfReader {
  public:
    explicit EbnfReader(std::string_view text) : text_(text) {}

    std::map<std::string, GrammarNode> rules() {
        std::map<std::string, GrammarNode> out;
        for (skip(); at_ < text_.size(); skip()) {
            const std::string name = word();
            expect('=');
            if (!out.emplace(name, choice()).second) fail(name + " is defined twice");
            expect(';');
        }
        return out;
    }

  private:
    [[noreturn]] void fail(const std::string& problem) const {
        throw std::runtime_error("grammar, near `" + std::string(text_.substr(at_, 30)) +
                                 "`: " + problem);
    }
    [[nodiscard]] char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    void skip() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
            ++at_;
    }
    void expect(char c) {
        skip();
        if (here() != c) fail(std::string("expected ") + c);
        ++at_;
    }
    std::string word() {
        const std::size_t begin = at_;
        while (std::isalpha(static_cast<unsigned char>(here())) != 0 || here() == '_') ++at_;
        if (at_ == begin) fail("expected a name");
        return std::string(text_.substr(begin, at_ - begin));
    }
    std::string quoted(char mark) {
        ++at_;
        const std::size_t end = text_.find(mark, at_);
        if (end == std::string_view::npos || end == at_) fail("a literal does not end");
        std::string out(text_.substr(at_, end - at_));
        at_ = end + 1;
        return out;
    }

    GrammarNode choice() {
        GrammarNode out{GrammarKind::Choice, {}, {sequence()}};
        for (skip(); here() == '|'; skip()) {
            ++at_;
            out.parts.push_back(sequence());
        }
        return out.parts.size() == 1 ? std::move(out.parts[0]) : out;
    }
    GrammarNode sequence() {
        GrammarNode out;
        for (skip(); here() != '\0' && std::string_view("|;)]}").find(here()) == std::string::npos;
             skip())
            out.parts.push_back(item());
        if (out.parts.empty()) fail("expected something");
        return out.parts.size() == 1 ? std::move(out.parts[0]) : out;
    }
    GrammarNode bracketed(GrammarKind kind, char close) {
        ++at_;
        GrammarNode out{kind, {}, {choice()}};
        expect(close);
        return kind == GrammarKind::Sequence ? std::move(out.parts[0]) : out;
    }
    GrammarNode item() {
        switch (here()) {
            case '[':
                return bracketed(GrammarKind::Optional, ']');
            case '{':
                return bracketed(GrammarKind::Repeat, '}');
            case '(':
                return bracketed(GrammarKind::Sequence, ')');
            case '?': {
                std::string text = quoted('?');
                return {GrammarKind::Special, std::move(text), {}};
            }
            case '"':
            case '\'': {
                std::string text = quoted(here());
                if (text_.substr(at_, 2) != "..")
                    return {GrammarKind::Literal, std::move(text), {}};
                at_ += 2;
                return {GrammarKind::Range, text + quoted(here()), {}};
            }
            default:
                return {GrammarKind::Rule, word(), {}};
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

// Whether a character belongs to a special sequence of the grammar.
bool special_holds(const std::string& words, char c) {
    if (words == " any character but \" and \\ and control characters ")
        return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20;
    if (words == " any character; the last three of a run of \" end it ") return true;
    throw std::runtime_error("grammar: no special `" + words + "`");
}

}  // namespace

// Finds the positions at which a node can end if it begins at a given position. The positions are
// in a list of tokens, or in the characters of one token.
struct Grammar::Match {
    const Grammar& grammar;
    const std::vector<std::string>* tokens;  // null: the characters of `text`
    std::string_view text;
    std::map<std::pair<std::size_t, const GrammarNode*>, std::vector<std::size_t>> known{};

    std::vector<std::size_t> ends(const GrammarNode& node, std::size_t at) {
        switch (node.kind) {
            case GrammarKind::Literal:
                if (tokens != nullptr)
                    return one(at < tokens->size() && (*tokens)[at] == node.text, at + 1);
                return one(text.substr(at, node.text.size()) == node.text, at + node.text.size());
            case GrammarKind::Range:
                return one(at < text.size() && text[at] >= node.text[0] && text[at] <= node.text[1],
                           at + 1);
            case GrammarKind::Special:
                return one(at < text.size() && special_holds(node.text, text[at]), at + 1);
            case GrammarKind::Rule:
                return rule(node.text, at);
            case GrammarKind::Choice: {
                std::set<std::size_t> out;
                for (const GrammarNode& part : node.parts)
                    for (const std::size_t end : ends(part, at)) out.insert(end);
                return {out.begin(), out.end()};
            }
            case GrammarKind::Optional: {
                std::vector<std::size_t> out = ends(node.parts[0], at);
                if (std::find(out.begin(), out.end(), at) == out.end()) out.push_back(at);
                return out;
            }
            case GrammarKind::Repeat: {
                std::set<std::size_t> out = {at};
                std::vector<std::size_t> open = {at};
                while (!open.empty()) {
                    const std::size_t from = open.back();
                    open.pop_back();
                    for (const std::size_t end : ends(node.parts[0], from))
                        if (out.insert(end).second) open.push_back(end);
                }
                return {out.begin(), out.end()};
            }
            case GrammarKind::Sequence:
                break;
        }
        std::set<std::size_t> reached = {at};
        for (const GrammarNode& part : node.parts) {
            std::set<std::size_t> next;
            for (const std::size_t from : reached)
                for (const std::size_t end : ends(part, from)) next.insert(end);
            reached = std::move(next);
        }
        return {reached.begin(), reached.end()};
    }

    static std::vector<std::size_t> one(bool holds, std::size_t end) {
        return holds ? std::vector<std::size_t>{end} : std::vector<std::size_t>{};
    }
    std::vector<std::size_t> rule(const std::string& name, std::size_t at) {
        if (tokens != nullptr && token_rule(name))
            return one(at < tokens->size() && grammar.token_is(name, (*tokens)[at]), at + 1);
        const GrammarNode& node = grammar.rules_.at(name);
        const auto key = std::pair(at, &node);
        if (const auto found = known.find(key); found != known.end()) return found->second;
        return known[key] = ends(node, at);
    }
};

Grammar::Grammar(std::string_view ebnf) : rules_(EbnfReader(ebnf).rules()) {
    for (const auto& [name, node] : rules_) heights_[name] = kEndless;
    for (bool changed = true; changed;) {
        changed = false;
        for (const auto& [name, node] : rules_) {
            const unsigned now = height(node);
            changed = changed || now < heights_[name];
            heights_[name] = std::min(heights_[name], now);
        }
    }
    for (const auto& [name, node] : rules_) {
        if (std::set<std::string> all; token_rule(name) && finite(node, all))
            finite_[name] = std::move(all);
        if (heights_[name] >= kEndless) throw std::runtime_error(name + " has no sentence");
        if (!token_rule(name)) collect(node);
    }
    for (const std::string& text : literals_)
        if (std::isalpha(static_cast<unsigned char>(text[0])) != 0) reserved_.insert(text);
    std::set<std::string> more;
    for (const auto& [name, node] : rules_) {
        if (!token_rule(name) ||
            std::find(kFreeWords.begin(), kFreeWords.end(), name) != kFreeWords.end())
            continue;
        std::set<std::string> words = tokens_of(name);
        if (!words.empty() && token_is("NAME", *words.begin())) more.merge(words);
    }
    reserved_.merge(more);
}

void Grammar::collect(const GrammarNode& node) {
    if (node.kind == GrammarKind::Literal) literals_.insert(node.text);
    for (const GrammarNode& part : node.parts) collect(part);
}

unsigned Grammar::height(const GrammarNode& node) const {
    unsigned out = 0;
    switch (node.kind) {
        case GrammarKind::Rule: {
            const auto found = heights_.find(node.text);
            if (found == heights_.end()) throw std::runtime_error("no rule " + node.text);
            return token_rule(node.text) ? 1 : std::min(found->second + 1, kEndless);
        }
        case GrammarKind::Choice:
            out = kEndless;
            for (const GrammarNode& part : node.parts) out = std::min(out, height(part));
            return out;
        case GrammarKind::Sequence:
            for (const GrammarNode& part : node.parts) out = std::max(out, height(part));
            return out;
        default:
            for (const GrammarNode& part : node.parts) (void)height(part);  // checks the names
            return 0;
    }
}

std::vector<std::string> Grammar::sentence(Random& random, const std::string& start, unsigned depth,
                                           const TokenSource& source) const {
    std::vector<std::string> out;
    expand(random, rules_.at(start), depth, false, source, out);
    return out;
}

void Grammar::expand(Random& random, const GrammarNode& node, unsigned depth, bool lexical,
                     const TokenSource& source, std::vector<std::string>& out) const {
    constexpr unsigned kAgain = 40;  // chance of another repetition, in percent
    switch (node.kind) {
        case GrammarKind::Literal:
            out.push_back(node.text);
            return;
        case GrammarKind::Range:
            out.emplace_back(1, static_cast<char>(random.between(node.text[0], node.text[1])));
            return;
        case GrammarKind::Special:
            out.emplace_back("c");
            return;
        case GrammarKind::Rule: {
            if (lexical || !token_rule(node.text))
                return expand(random, rules_.at(node.text), depth == 0 ? 0 : depth - 1, lexical,
                              source, out);
            std::string token = source(node.text);
            if (token.empty()) {
                std::vector<std::string> parts;
                expand(random, rules_.at(node.text), 8, true, source, parts);
                for (const std::string& part : parts) token += part;
            }
            out.push_back(std::move(token));
            return;
        }
        case GrammarKind::Sequence:
            for (const GrammarNode& part : node.parts)
                expand(random, part, depth, lexical, source, out);
            return;
        case GrammarKind::Choice: {
            std::vector<const GrammarNode*> fit;
            unsigned least = kEndless;
            for (const GrammarNode& part : node.parts) least = std::min(least, height(part));
            for (const GrammarNode& part : node.parts)
                if (height(part) <= std::max(least, depth)) fit.push_back(&part);
            return expand(random, *random.pick(fit), depth, lexical, source, out);
        }
        case GrammarKind::Optional:
            if (depth > 0 && random.chance(50))
                expand(random, node.parts[0], depth, lexical, source, out);
            return;
        case GrammarKind::Repeat:
            while (depth > 0 && random.chance(kAgain))
                expand(random, node.parts[0], depth, lexical, source, out);
            return;
    }
}

bool Grammar::holds(const std::string& start, const std::vector<std::string>& tokens) const {
    Match match{*this, &tokens, {}};
    const std::vector<std::size_t> ends = match.rule(start, 0);
    return std::find(ends.begin(), ends.end(), tokens.size()) != ends.end();
}

bool Grammar::token_is(const std::string& rule, std::string_view text) const {
    if (rule == "NAME" && reserved_.count(std::string(text)) != 0) return false;
    if (const auto all = finite_.find(rule); all != finite_.end())
        return all->second.count(std::string(text)) != 0;
    Match match{*this, nullptr, text};
    const std::vector<std::size_t> ends = match.ends(rules_.at(rule), 0);
    return std::find(ends.begin(), ends.end(), text.size()) != ends.end();
}

bool Grammar::finite(const GrammarNode& node, std::set<std::string>& out) const {
    switch (node.kind) {
        case GrammarKind::Literal:
            out = {node.text};
            return true;
        case GrammarKind::Rule:
            return finite(rules_.at(node.text), out);
        case GrammarKind::Range:
        case GrammarKind::Special:
        case GrammarKind::Repeat:
            return false;
        case GrammarKind::Optional:
            if (!finite(node.parts[0], out)) return false;
            out.insert("");
            return true;
        case GrammarKind::Choice:
            for (const GrammarNode& part : node.parts) {
                std::set<std::string> more;
                if (!finite(part, more)) return false;
                out.merge(more);
            }
            return true;
        case GrammarKind::Sequence:
            break;
    }
    out = {""};
    for (const GrammarNode& part : node.parts) {
        std::set<std::string> more;
        if (!finite(part, more)) return false;
        std::set<std::string> joined;
        for (const std::string& left : out)
            for (const std::string& right : more) joined.insert(left + right);
        out = std::move(joined);
    }
    return true;
}

std::set<std::string> Grammar::tokens_of(const std::string& rule) const {
    const auto found = finite_.find(rule);
    return found == finite_.end() ? std::set<std::string>() : found->second;
}

}  // namespace support
