// SPDX-License-Identifier: Apache-2.0
#include "registry/choose/property.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <vector>

#include "wye/sdk/ascii.hpp"
#include "wye/sdk/nearest.hpp"
#include "wye/sdk/numbers.hpp"

namespace wye::registry {
namespace {

using Operator = Property::Operator;

struct OperatorName {
    std::string_view text;
    Operator op;
};
// Longer operators come first, since `>=` also begins with the operator `>`.
constexpr OperatorName kOperators[] = {{"!=", Operator::not_equal}, {">=", Operator::at_least},
                                       {"<=", Operator::at_most},   {"=", Operator::equal},
                                       {">", Operator::more},       {"<", Operator::less}};

std::string_view text_of(Operator op) {
    for (const OperatorName& one : kOperators)
        if (one.op == op) return one.text;
    return "?";
}

bool ordered(Operator op) { return op != Operator::equal && op != Operator::not_equal; }

template <typename T>
bool holds(const T& have, Operator op, const T& want) {
    switch (op) {
        case Operator::equal:
            return have == want;
        case Operator::not_equal:
            return have != want;
        case Operator::at_least:
            return have >= want;
        case Operator::at_most:
            return have <= want;
        case Operator::more:
            return have > want;
        case Operator::less:
            return have < want;
    }
    return false;
}

// The first dotted number in a text ("API 3.0 x" gives {3, 0}); empty if there is none.
std::vector<std::uint64_t> version_of(std::string_view text) {
    std::vector<std::uint64_t> out;
    const char* at = std::find_if(text.begin(), text.end(), sdk::ascii::is_digit);
    const char* const end = text.data() + text.size();
    while (at != end && sdk::ascii::is_digit(*at)) {
        std::uint64_t part = 0;
        const auto [stop, status] = std::from_chars(at, end, part);
        if (status != std::errc{}) part = UINT64_MAX;
        out.push_back(part);
        at = stop;
        if (end - at < 2 || *at != '.' || !sdk::ascii::is_digit(at[1])) break;
        ++at;
    }
    return out;
}

// Compares versions; 1.3 and 1.3.0 are equal.
bool version_holds(std::string_view have_text, Operator op, std::string_view want_text) {
    std::vector<std::uint64_t> have = version_of(have_text);
    std::vector<std::uint64_t> want = version_of(want_text);
    if (have.empty()) return false;
    const std::size_t parts = std::max(have.size(), want.size());
    have.resize(parts);
    want.resize(parts);
    return holds(have, op, want);
}

bool text_holds(const std::string& have, Operator op, const std::string& want) {
    if (ordered(op)) return version_holds(have, op, want);
    return sdk::ascii::same_but_case(have, want) == (op == Operator::equal);
}

bool list_holds(const std::vector<std::uint64_t>& have, Operator op, std::uint64_t want) {
    const auto fits = [&](std::uint64_t value) {
        return holds(value, op == Operator::not_equal ? Operator::equal : op, want);
    };
    return std::ranges::any_of(have, fits) != (op == Operator::not_equal);
}

bool three_holds(const std::array<std::uint32_t, 3>& have, Operator op,
                 const std::array<std::uint32_t, 3>& want) {
    if (!ordered(op)) return holds(have, op, want);
    for (std::size_t axis = 0; axis < 3; ++axis)
        if (!holds(have[axis], op, want[axis])) return false;
    return true;
}

std::string shown(const FactValue& value) {
    return std::visit(
        [](const auto& v) -> std::string {
            using T = std::decay_t<decltype(v)>;
            if constexpr (std::is_same_v<T, bool>)
                return v ? "yes" : "no";
            else if constexpr (std::is_same_v<T, std::string>)
                return v;
            else if constexpr (std::is_arithmetic_v<T>)
                return fmt::format("{}", v);
            else if constexpr (std::is_same_v<T, std::array<std::uint32_t, 3>>)
                return fmt::format("{}", fmt::join(v, "x"));
            else
                return fmt::format("{}", fmt::join(v, " "));
        },
        value);
}

const FactInfo* fact_named(std::string_view name) {
    if (const FactInfo* fact = find_fact(name)) return fact;
    if (const FactInfo* fact = find_fact(fmt::format("{}_bytes", name))) return fact;
    return find_fact(fmt::format("device_{}", name));
}

TextFault unknown_fact(std::string_view name) {
    std::vector<std::string_view> names;
    for (const FactInfo& info : fact_infos()) {
        names.push_back(info.name);
        if (info.name.ends_with("_bytes"))
            names.push_back(info.name.substr(0, info.name.size() - 6));
    }
    const std::string_view near = sdk::nearest(name, names);
    return {0, fmt::format("there is no fact `{}`", name),
            near.empty() ? "use a name that `wye info --json` has under `facts`"
                         : fmt::format("write {}", near)};
}

bool parse_flag(std::string_view text, FactValue& out) {
    const bool yes = text == "yes" || text == "true" || text == "1";
    if (!yes && text != "no" && text != "false" && text != "0") return false;
    out = yes;
    return true;
}

bool parse_integer(std::string_view text, FactValue& out) {
    const auto value = sdk::parse_quantity(text, {sdk::kSizeUnits, sdk::kFrequencyUnits});
    if (value) out = *value;
    return value.has_value();
}

bool parse_real(std::string_view text, FactValue& out) {
    const auto value = sdk::parse_number<double>(text);
    if (!value || !std::isfinite(*value)) return false;
    out = *value;
    return true;
}

bool parse_three(std::string_view text, FactValue& out) {
    const auto axes = sdk::parse_numbers<std::uint32_t>(text, 'x', 3);
    if (!axes || axes->size() != 3) return false;
    out = std::array{axes->at(0), axes->at(1), axes->at(2)};
    return true;
}

// Whether a text consists of letters, digits and signs that need no quotes.
bool is_word(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return sdk::ascii::is_digit(c) || sdk::ascii::is_letter(c) || c == '_' || c == '.' ||
               c == '-' || c == ':' || c == '+';
    });
}

bool parse_text(std::string_view text, Operator op, FactValue& out, TextFault& fault) {
    std::string value;
    if (!text.empty() && text.front() == '"') {
        if (parse_quoted(text, value, fault) != text.size()) return false;
    } else if (is_word(text)) {
        value = text;
    } else {
        return false;
    }
    if (ordered(op) && version_of(value).empty()) {
        fault.what = "`<` and `>` compare the first number of a text, and this text has none";
        fault.fix = "write a version, as in driver>=535.1, or use =";
        return false;
    }
    out = std::move(value);
    return true;
}

// Parses a value of this type. On failure, replaces `fault`, which the caller has filled in, if a
// more exact fault is known.
bool parse_value(std::uint32_t type, Operator op, std::string_view text, FactValue& out,
                 TextFault& fault) {
    switch (type) {
        case WYE_FACT_BOOL:
            return !ordered(op) && parse_flag(text, out);
        case WYE_FACT_U64:
        case WYE_FACT_U64_LIST:
            return parse_integer(text, out);
        case WYE_FACT_F64:
            return parse_real(text, out);
        case WYE_FACT_U32X3:
            return parse_three(text, out);
        default:
            return parse_text(text, op, out, fault);
    }
}

const char* example_of(std::uint32_t type) {
    switch (type) {
        case WYE_FACT_BOOL:
            return "write the name alone, !name, or name=yes";
        case WYE_FACT_U64:
        case WYE_FACT_U64_LIST:
            return "write a number, with a unit such as GiB if need be";
        case WYE_FACT_F64:
            return "write a number";
        case WYE_FACT_U32X3:
            return "write three numbers, as in 16x16x1";
        default:
            return "write a word, or words in quotes";
    }
}

std::string text_of(const FactInfo& fact, Operator op, const FactValue& value,
                    std::string_view written) {
    if (fact.type == WYE_FACT_BOOL)
        return fmt::format("{}{}", std::get<bool>(value) == (op == Operator::equal) ? "" : "!",
                           fact.name);
    const std::string* words = std::get_if<std::string>(&value);
    const std::string as_text = words == nullptr  ? std::string(written)
                                : is_word(*words) ? *words
                                                  : in_quotes(*words);
    return fmt::format("{}{}{}", fact.name, text_of(op), as_text);
}

}  // namespace

bool Property::fits(const Facts& facts) const {
    const Fact* fact = facts.find(key);
    if (fact == nullptr) {
        const bool* wanted = std::get_if<bool>(&value);
        return wanted != nullptr && holds(false, op, *wanted);
    }
    if (const auto* have = std::get_if<std::vector<std::uint64_t>>(&fact->value)) {
        const auto* want = std::get_if<std::uint64_t>(&value);
        return want != nullptr && list_holds(*have, op, *want);
    }
    if (fact->value.index() != value.index()) return false;
    if (const auto* have = std::get_if<bool>(&fact->value))
        return holds(*have, op, std::get<bool>(value));
    if (const auto* have = std::get_if<std::uint64_t>(&fact->value))
        return holds(*have, op, std::get<std::uint64_t>(value));
    if (const auto* have = std::get_if<double>(&fact->value))
        return holds(*have, op, std::get<double>(value));
    if (const auto* have = std::get_if<std::string>(&fact->value))
        return text_holds(*have, op, std::get<std::string>(value));
    const auto* have = std::get_if<std::array<std::uint32_t, 3>>(&fact->value);
    return have != nullptr && three_holds(*have, op, std::get<std::array<std::uint32_t, 3>>(value));
}

std::string why_not(const Property& property, const Facts& facts) {
    const Fact* fact = facts.find(property.key);
    return fmt::format("needs {}, has {}", property.text,
                       fact == nullptr ? "not reported" : shown(fact->value));
}

std::optional<TextFault> parse_property(std::string_view text, Property& out) {
    if (text.empty()) return TextFault{0, "a property is missing here", "write one, as in [f64]"};
    const bool denied = text.front() == '!';
    const std::size_t begin = denied ? 1 : 0;
    const std::size_t sign = std::min(text.find_first_of("=!<>", begin), text.size());
    std::size_t stop = sign;
    while (stop > begin && sdk::ascii::is_space(text[stop - 1])) --stop;
    const std::string_view name = text.substr(begin, stop - begin);
    const FactInfo* fact = fact_named(name);
    if (fact == nullptr) {
        TextFault fault = unknown_fact(name);
        fault.offset = begin;
        return fault;
    }
    if (sign == text.size()) {
        if (fact->type != WYE_FACT_BOOL)
            return TextFault{sign, fmt::format("a condition on `{}` is missing", fact->name),
                             fmt::format("write {}>=N or {}=VALUE", fact->name, fact->name)};
        out = {fact->key, Operator::equal, !denied, {}};
        out.text = text_of(*fact, out.op, out.value, {});
        return std::nullopt;
    }
    if (denied)
        return TextFault{sign, "! and a comparison exclude each other",
                         fmt::format("write {}!=VALUE", fact->name)};
    const std::string_view rest = text.substr(sign);
    const auto* op = std::ranges::find_if(
        kOperators, [&](const OperatorName& one) { return rest.starts_with(one.text); });
    if (op == std::end(kOperators))
        return TextFault{sign, "this is not an operator", "use =, !=, >=, <=, > or <"};
    std::size_t at = sign + op->text.size();
    while (at < text.size() && sdk::ascii::is_space(text[at])) ++at;
    const std::string_view written = text.substr(at);
    TextFault fault{0, fmt::format("this cannot be compared with `{}`", fact->name),
                    example_of(fact->type)};
    out = {fact->key, op->op, {}, {}};
    if (!parse_value(fact->type, op->op, written, out.value, fault)) {
        fault.offset += at;
        return fault;
    }
    out.text = text_of(*fact, out.op, out.value, written);
    return std::nullopt;
}

std::size_t parse_quoted(std::string_view text, std::string& out, TextFault& fault) {
    for (std::size_t i = 1; i < text.size(); ++i) {
        char c = text[i];
        if (c == '"') return i + 1;
        if (c == '\\') {
            if (i + 1 == text.size() || (text[i + 1] != '"' && text[i + 1] != '\\')) {
                fault = {i, "only \\\" and \\\\ are known here", "write \\\\ for a backslash"};
                return 0;
            }
            c = text[++i];
        }
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
            fault = {i, "a control character is in the quotes", "leave it out"};
            return 0;
        }
        out += c;
    }
    fault = {text.size(), "the quotes are not closed", "write \" at the end of the name"};
    return 0;
}

std::string in_quotes(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

}  // namespace wye::registry
