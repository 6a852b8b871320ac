// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "property.hpp"

namespace wye::tool {
namespace {

constexpr std::size_t kMostClauses = 64;

struct Clause {
    std::string name, op, value;  // op "": a truth
    bool negated = false;
    std::optional<double> amount;  // `value` as a number
};

std::string trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(' ');
    if (first == text.npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

// "8GiB", "1.5 GiB", "64".
std::optional<double> amount_of(const std::string& text) {
    double out = 0;
    const char* const end = text.data() + text.size();
    const auto [next, status] = std::from_chars(text.data(), end, out);
    if (status != std::errc{}) return std::nullopt;
    const std::string unit = trimmed({next, static_cast<std::size_t>(end - next)});
    constexpr const char* kUnits[] = {"", "KiB", "MiB", "GiB", "TiB"};
    for (const char* known : kUnits) {
        if (unit == known) return out;
        out *= 1024;
    }
    return std::nullopt;
}

Result<Clause> parse_clause(const std::string& text) {
    const auto wrong = [&](std::string_view why) {
        return Error(Code::INVALID_ARGUMENT, fmt::format("`--require {}`: {}", clean(text), why),
                     "Fix: write NAME, !NAME or NAME>=VALUE, separated by commas, as in "
                     "--require 'f64, memory>=8GiB, kind=gpu'",
                     "--require");
    };
    Clause out;
    const std::size_t at = text.find_first_of("=!<>", text.starts_with('!') ? 1 : 0);
    out.name = trimmed(std::string_view(text).substr(0, at));
    if (out.name.starts_with('!')) {
        out.negated = true;
        out.name = trimmed(std::string_view(out.name).substr(1));
    }
    if (out.name.empty()) return wrong("a name is missing");
    if (at == text.npos) return out;
    if (out.negated) return wrong("`!` stands before a name without a value");
    const std::size_t size = at + 1 < text.size() && text[at + 1] == '=' ? 2 : 1;
    out.op = text.substr(at, size);
    if (out.op == "==") out.op = "=";
    if (out.op == "!") return wrong("`!` within a clause is written `!=`");
    out.value = trimmed(std::string_view(text).substr(at + size));
    if (out.value.empty()) return wrong("a value is missing");
    out.amount = amount_of(out.value);
    if (!out.amount && out.op != "=" && out.op != "!=")
        return wrong(
            fmt::format("`{}` is not a number, with KiB, MiB or GiB or without", clean(out.value)));
    return out;
}

Result<std::vector<Clause>> parse_clauses(const std::string& expression) {
    std::vector<Clause> out;
    for (std::size_t from = 0; from <= expression.size();) {
        const std::size_t end = std::min(expression.find(',', from), expression.size());
        WYE_ASSIGN(Clause clause,
                   parse_clause(trimmed(std::string_view(expression).substr(from, end - from))));
        out.push_back(std::move(clause));
        if (out.size() > kMostClauses)
            return Error(Code::LIMIT_EXCEEDED,
                         fmt::format("`--require` has more than {} clauses", kMostClauses),
                         "Fix: write fewer", "--require");
        from = end + 1;
    }
    return out;
}

bool compares(double a, const std::string& op, double b) {
    if (op == "=") return a == b;
    if (op == "!=") return a != b;
    if (op == "<") return a < b;
    if (op == "<=") return a <= b;
    return op == ">" ? a > b : a >= b;
}

// A list satisfies a comparison of numbers if one of its numbers does.
bool holds(const Clause& clause, const Report& value) {
    // A capability that is not reported is absent.
    if (value.is_null()) return clause.op.empty() && clause.negated;
    if (clause.op.empty()) {
        const bool truth = value.is_boolean()  ? value.get<bool>()
                           : value.is_number() ? value.get<double>() != 0
                                               : !value.empty();
        return truth != clause.negated;
    }
    if (value.is_array()) {
        const auto one = [&](const Report& item) { return holds(clause, item); };
        return clause.op == "!=" ? std::ranges::all_of(value, one)
                                 : std::ranges::any_of(value, one);
    }
    if (value.is_number() && clause.amount)
        return compares(value.get<double>(), clause.op, *clause.amount);
    if (clause.op != "=" && clause.op != "!=") return false;
    return (value_text(value) == clause.value) == (clause.op == "=");
}

std::string failure_of(const Clause& clause, const Report* value) {
    const std::string has = value == nullptr || value->is_null() ? "it is not reported"
                            : clause.op.empty() ? fmt::format("it is {}", value_text(*value))
                                                : fmt::format("has {}", value_text(*value));
    return fmt::format("needs {}{}{}{}, {}", clause.negated ? "!" : "", clause.name, clause.op,
                       clause.value, has);
}

}  // namespace

Result<Required> require_view(const Report& report, const std::string& expression) {
    WYE_ASSIGN(const std::vector<Clause> clauses, parse_clauses(expression));
    for (const Clause& clause : clauses)
        if (auto error = unknown_property(report, clause.name)) return std::move(*error);
    Required out;
    Report fitting = {{"devices", Report::array()}};
    for (const Report& device : items(report, "devices")) {
        std::vector<std::string> against;
        if (!usable(device)) against.push_back("unusable: " + text(device, "reason"));
        for (const Clause& clause : clauses) {
            const Report* value = property_of(device, clause.name);
            if (value == nullptr || !holds(clause, *value))
                against.push_back(failure_of(clause, value));
        }
        if (against.empty()) {
            fitting["devices"].push_back(device);
        } else {
            out.failures.push_back(
                clean(fmt::format("{}: {}", text(device, "selector"), fmt::join(against, "; "))));
        }
    }
    out.fitting = list_view(fitting);
    return out;
}

}  // namespace wye::tool
