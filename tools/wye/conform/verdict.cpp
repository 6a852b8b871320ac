// SPDX-License-Identifier: Apache-2.0
#include "verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "contract_text.hpp"
#include "wye/sdk/numbers.hpp"
#include "wye/sdk/words.hpp"

namespace wye::tool::conform {
namespace {

// Returns 25 for "P-25".
unsigned number_of(const std::string& rule) {
    std::string_view digits = std::string_view(rule).substr(std::min<std::size_t>(2, rule.size()));
    unsigned out = 0;
    (void)sdk::take_number(digits, out);
    return out;
}

struct ByNumber {
    bool operator()(const std::string& a, const std::string& b) const {
        return number_of(a) != number_of(b) ? number_of(a) < number_of(b) : a < b;
    }
};

std::string cases(std::size_t count) {
    return fmt::format("{} case{}", count, count == 1 ? "" : "s");
}

// The rules of those failed cases that `which` chooses, ascending by number.
template <typename Which>
std::vector<std::string> rules_of(const Verdict& verdict, const Which& which) {
    std::set<std::string, ByNumber> out;
    for (const Group& group : verdict.groups)
        for (const Case& one : group.cases)
            if (one.result == Outcome::failed && which(one))
                out.insert(one.rules.begin(), one.rules.end());
    return {out.begin(), out.end()};
}

}  // namespace

std::string_view depth_name(Depth depth) {
    constexpr std::string_view kNames[] = {"quick", "default", "full"};
    return sdk::name_in(kNames, depth);
}

std::string_view outcome_name(Outcome outcome) {
    constexpr std::string_view kNames[] = {"passed", "failed", "not_applicable"};
    return sdk::name_in(kNames, outcome);
}

std::size_t Group::count(Outcome outcome) const {
    return static_cast<std::size_t>(std::count_if(
        cases.begin(), cases.end(), [&](const Case& one) { return one.result == outcome; }));
}

std::size_t Verdict::count(Outcome outcome) const {
    std::size_t out = 0;
    for (const Group& group : groups) out += group.count(outcome);
    return out;
}

std::vector<std::string> Verdict::failed_rules() const {
    return rules_of(*this, [](const Case&) { return true; });
}

std::string Verdict::root() const {
    for (const char* name : {"device", "order"})
        if (const Group* const group = find(name))
            for (const Case& one : group->cases)
                if (one.result == Outcome::failed && !one.rules.empty()) return one.rules.front();
    return {};
}

std::size_t Verdict::groups_tried() const {
    return static_cast<std::size_t>(std::count_if(
        groups.begin(), groups.end(), [](const Group& group) { return group.not_tried.empty(); }));
}

const Group* Verdict::find(const std::string& name) const {
    for (const Group& group : groups)
        if (group.name == name) return &group;
    return nullptr;
}

std::string rule_text(const std::string& rule) {
    const std::string_view text = kContract;
    const std::string begin = "\n| " + rule + " | ";
    const std::size_t at = text.find(begin);
    if (at == text.npos) return {};
    std::string_view row = text.substr(at + begin.size());
    row = row.substr(0, row.find('\n'));
    const std::size_t bar = row.find(" | ");
    if (bar == row.npos) return {};
    const std::string_view otherwise = row.substr(bar + 3);
    std::string out = fmt::format("a plugin {}; otherwise: {}", sdk::trimmed(row.substr(0, bar)),
                                  sdk::trimmed(otherwise.substr(0, otherwise.find(" | "))));
    // Removes references of the table to the text below the table.
    for (const std::string_view away : {", see below", "; see below"})
        if (const std::size_t below = out.find(away); below != out.npos)
            out.erase(below, away.size());
    return out;
}

std::string remedy_of(const std::vector<std::string>& rules) {
    if (rules.empty()) return "Fix: do what the case's name asks for";
    std::string out = "Fix: ";
    for (std::size_t i = 0; i < rules.size(); ++i)
        out += fmt::format("{}{}: {}", i == 0 ? "" : ". ", rules[i], rule_text(rules[i]));
    return out;
}

std::string sentence_of(const Verdict& verdict) {
    const std::string name =
        verdict.id.empty() ? verdict.path : fmt::format("{} {}", verdict.id, verdict.version);
    const std::size_t failed = verdict.count(Outcome::failed);
    const std::size_t passed = verdict.count(Outcome::passed);
    const std::size_t apart = verdict.count(Outcome::not_applicable);
    std::string out;
    if (failed == 0) {
        out = fmt::format("{} conforms{}: {} passed", name,
                          verdict.device ? "" : " as far as it was tried", cases(passed));
        if (apart != 0) out += fmt::format(", {} do not apply", apart);
    } else {
        const auto follows = [](const Case& one) { return !one.consequence_of.empty(); };
        out = fmt::format(
            "{} does not conform: {} failed, {} passed; rules {}", name, cases(failed), passed,
            fmt::join(rules_of(verdict, [&](const Case& one) { return !follows(one); }), ", "));
        if (const auto later = rules_of(verdict, follows); !later.empty())
            out += fmt::format("\nprobably consequences of {}: failures of {}", verdict.root(),
                               fmt::join(later, ", "));
    }
    // Each reason is stated once, for all groups with this reason.
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
    for (const Group& group : verdict.groups) {
        if (group.not_tried.empty()) continue;
        const auto same = std::find_if(reasons.begin(), reasons.end(), [&](const auto& reason) {
            return reason.first == group.not_tried;
        });
        if (same == reasons.end())
            reasons.push_back({group.not_tried, {group.name}});
        else
            same->second.push_back(group.name);
    }
    for (const auto& [reason, names] : reasons)
        out += fmt::format("\nnot tried: {}, since {}", fmt::join(names, ", "), reason);
    for (const Group& group : verdict.groups)
        if (!group.partly.empty())
            out += fmt::format("\ntried in part: {}, {}", group.name, group.partly);
    if (!verdict.device && verdict.groups_tried() != verdict.groups.size())
        out += fmt::format(
            "\nonly {} of {} groups could be tried, since there is no usable device: run it where "
            "there is one",
            verdict.groups_tried(), verdict.groups.size());
    return out;
}

}  // namespace wye::tool::conform
