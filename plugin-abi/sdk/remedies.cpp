// SPDX-License-Identifier: Apache-2.0
//
// Remedies for values of wrong types. A literal is written in the right type. Another value is
// converted to a type that holds it, or the remedy says what the conversion loses.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "wye/sdk/typing.hpp"

namespace wye::ir {
namespace {

bool is_literal(const Code& code, ExprId id) {
    return id < code.exprs.size() && code.exprs[id].op == Op::LITERAL;
}

bool wide(Type t) { return t.bits() == 64 && t.lanes == 1; }

std::string suffix(Type t) {
    if (t == kU32) return "u";
    return t == kI32 || t == kF32 ? std::string() : type_name(t);
}

std::string real_text(double value, bool single, Type wanted) {
    char digits[40];
    const auto end = single ? std::to_chars(digits, digits + 40, static_cast<float>(value)).ptr
                            : std::to_chars(digits, digits + 40, value).ptr;
    std::string text(digits, end);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text + suffix(wanted);
}

// A literal of an integer type, written in another type; empty: that type cannot hold the value.
std::string from_integer(Type type, std::uint64_t bits, Type wanted) {
    bool negative = false;
    std::uint64_t magnitude = bits;
    if (type == kI32)
        bits = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(bits)});
    if (type.signed_integer()) {
        negative = static_cast<std::int64_t>(bits) < 0;
        magnitude = negative ? 0 - bits : bits;
    }
    const std::string sign = negative ? "-" : "";
    if (wanted.floating()) {
        const int exact = wanted == kF16 ? 11 : wanted == kF32 ? 24 : 53;
        if (magnitude > std::uint64_t{1} << exact) return {};
        return sign + std::to_string(magnitude) + ".0" + suffix(wanted);
    }
    const unsigned width = wanted.bits() - (wanted.signed_integer() ? 1 : 0);
    const std::uint64_t most = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    if (magnitude > most || (negative && !wanted.signed_integer())) return {};
    return sign + std::to_string(magnitude) + suffix(wanted);
}

// The remedy for scalars and vectors of different widths.
std::string width_fix(const Code& code, std::span<const ExprId> ids, std::span<const Type> got) {
    const Type widest =
        *std::max_element(got.begin(), got.end(), [](Type a, Type b) { return a.lanes < b.lanes; });
    const auto scalar = std::find_if(got.begin(), got.end(), [](Type t) { return t.scalar(); });
    if (scalar == got.end()) return "Fix: give vectors of one width";
    const auto at = static_cast<std::size_t>(scalar - got.begin());
    std::string value = at < ids.size() ? literal_as(code, ids[at], widest.component()) : "";
    if (value.empty())
        value = *scalar == widest.component() ? "x" : type_name(widest.component()) + "(x)";
    return "Fix: build a vector from the scalar first, as in `" + type_name(widest) + "(" + value +
           ")`";
}

// The type that holds the values of both number types; None if there is none.
Type common(Type a, Type b) {
    if (a.component() == b.component()) return a;
    const Type x = a.component(), y = b.component();
    const bool large = wide(x) || wide(y);
    if (x.floating() && y.floating()) return (large ? kF64 : kF32).with_lanes(a.lanes);
    if (x.floating() || y.floating()) return (large ? kF64 : kF32).with_lanes(a.lanes);
    if (x.signed_integer() == y.signed_integer())
        return (x.signed_integer() ? kI64 : kU64).with_lanes(a.lanes);
    const Type without_sign = x.signed_integer() ? y : x;
    if (large && !wide(without_sign)) return kI64.with_lanes(a.lanes);
    return {};
}

}  // namespace

std::string literal_as(const Code& code, ExprId id, Type wanted) {
    if (!is_literal(code, id) || !wanted.scalar()) return {};
    const Expr& e = code.exprs[id];
    const Type type = type_from_code(e.imm).value_or(Type{});
    if (!(wanted.integer() || wanted.floating())) return {};
    if (type.integer()) return from_integer(type, e.extra, wanted);
    if (type != kF32 && type != kF64) return {};
    const double value = type == kF64 ? std::bit_cast<double>(e.extra)
                                      : std::bit_cast<float>(static_cast<std::uint32_t>(e.extra));
    if (!std::isfinite(value)) return {};
    if (wanted.floating()) return real_text(value, type == kF32, wanted);
    constexpr double kExact = 9007199254740992.0;  // 2^53
    if (std::trunc(value) != value || std::abs(value) > kExact) return {};
    return from_integer(kI64, static_cast<std::uint64_t>(static_cast<std::int64_t>(value)), wanted);
}

std::string agreement_fix(const Code& code, std::span<const ExprId> ids,
                          std::span<const Type> got) {
    if (std::any_of(got.begin(), got.end(), [&](Type t) { return t.lanes != got[0].lanes; }))
        return width_fix(code, ids, got);
    const bool some_bool = std::any_of(got.begin(), got.end(), [](Type t) { return t.boolean(); });
    if (some_bool) {
        const Type number =
            *std::find_if(got.begin(), got.end(), [](Type t) { return !t.boolean(); });
        return "Fix: compare the " + type_name(number) + " value first, as in `" + nonzero(number) +
               "`";
    }
    // Chooses the type of the first value that is not a literal, else of the first float literal,
    // else of the first value.
    const auto literal = [&](std::size_t k) { return k < ids.size() && is_literal(code, ids[k]); };
    std::size_t main = got.size();
    for (std::size_t k = got.size(); k-- > 0;)
        if (!literal(k)) main = k;
    if (main == got.size()) {
        main = 0;
        for (std::size_t k = got.size(); k-- > 0;)
            if (got[k].floating()) main = k;
    }
    for (std::size_t k = 0; k < got.size(); ++k) {
        if (!literal(k) || got[k] == got[main]) continue;
        const std::string text = literal_as(code, ids[k], got[main]);
        const std::string other =
            "convert the " + type_name(got[main]) + " value, as in `" + type_name(got[k]) + "(x)`";
        if (got[k].floating() && !got[main].floating())
            return text.empty() ? "Fix: " + other
                                : "Fix: write `" + text + "`, or, for a float result, " + other;
        if (!text.empty()) return "Fix: write `" + text + "`";
    }
    Type all = got[0];
    for (const Type t : got) all = all.none() ? all : common(all, t);
    if (all.none()) {
        const bool large =
            std::any_of(got.begin(), got.end(), [](Type t) { return wide(t.component()); });
        return std::string("Fix: convert one operand: `") + (large ? "u64" : "u32") +
               "(x)` keeps values of at least 0, `" + (large ? "i64" : "i32") +
               "(x)` keeps values below 2^" + (large ? "63" : "31");
    }
    for (const Type t : got)
        if (t == all) {
            for (const Type other : got)
                if (other != all)
                    return "Fix: convert the " + type_name(other) + " value, as in `" +
                           type_name(all) + "(x)`";
        }
    return "Fix: convert the values to " + type_name(all) + ", as in `" + type_name(all) + "(x)`";
}

std::string conversion_fix(const Code& code, ExprId id, Type got, Type wanted) {
    if (const std::string text = literal_as(code, id, wanted); !text.empty())
        return "Fix: write `" + text + "`";
    if (got.lanes != wanted.lanes) {
        if (!got.scalar()) return "Fix: give a value of type " + type_name(wanted);
        const ExprId ids[] = {id};
        const Type types[] = {got, wanted};
        return width_fix(code, ids, types);
    }
    if (wanted.boolean()) return "Fix: write a condition such as `" + nonzero(got) + "`";
    const std::string convert = "Fix: convert the value, as in `" + type_name(wanted) + "(...)`";
    const Type from = got.component(), to = wanted.component();
    if (from.boolean()) return convert;
    if (from.floating() && to.integer()) return convert + ", which drops the fraction";
    if (from.floating()) return convert + (to.bits() < from.bits() ? ", which rounds" : "");
    if (to.floating()) return convert;
    if (to.bits() < from.bits())
        return convert + ", which keeps the low " + std::to_string(to.bits()) + " bits";
    if (from.signed_integer() && !to.signed_integer()) return convert + ", if it is not negative";
    if (to.signed_integer() && !from.signed_integer() && to.bits() == from.bits())
        return convert + ", if it is below 2^" + std::to_string(to.bits() - 1);
    return convert;
}

std::string zero(Type type) {
    const Type t = type.component();
    const std::string scalar = (t.floating() ? "0.0" : "0") + suffix(t);
    return type.scalar() ? scalar : type_name(type) + "(" + scalar + ")";
}

std::string nonzero(Type type) { return "x != " + zero(type); }

}  // namespace wye::ir
