// SPDX-License-Identifier: Apache-2.0
//
// Reads the parts of a number: prefix, digits, point, exponent, suffix.
#include <fmt/core.h>

#include <algorithm>

#include "program/text/literal.hpp"

namespace wye::ir {
namespace {

bool decimal(char c) { return c >= '0' && c <= '9'; }
bool hexadecimal(char c) { return decimal(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool binary(char c) { return c == '0' || c == '1'; }

Number malformed(std::string problem, std::string fix) {
    Number out;
    out.problem = std::move(problem);
    out.fix = std::move(fix);
    return out;
}

// Appends digits of one kind to `out`, without the `_` between them. Returns false if a `_` is
// misplaced.
bool take_digits(std::string_view& rest, bool (*is_digit)(char), std::string& out) {
    const bool begins_with_digit = !rest.empty() && is_digit(rest[0]);
    while (!rest.empty() && (is_digit(rest[0]) || rest[0] == '_')) {
        if (rest[0] == '_') {
            if (!begins_with_digit || rest.size() < 2 || !is_digit(rest[1])) return false;
        } else {
            out += rest[0];
        }
        rest.remove_prefix(1);
    }
    return true;
}

bool known_suffix(std::string_view suffix, Type& type) {
    if (suffix == "u") type = kU32;
    if (suffix == "i64") type = kI64;
    if (suffix == "u64") type = kU64;
    if (suffix == "f16") type = kF16;
    if (suffix == "f64") type = kF64;
    return suffix == "u" || suffix == "i64" || suffix == "u64" || suffix == "f16" ||
           suffix == "f64";
}

// `floating`: whether the digits have a point or an exponent.
Number bad_suffix(std::string_view text, std::string_view suffix, bool floating) {
    const std::string shown = fmt::format("`{}`", suffix.substr(0, 40));
    const std::string body(text.substr(0, text.size() - suffix.size()));
    const std::string real = floating ? body : body + ".0";
    std::string lower(suffix);
    for (char& c : lower) c = static_cast<char>(c | 0x20);
    const auto write = [&](std::string_view what, const std::string& literal) {
        return malformed(fmt::format("{} is not a suffix{}", shown, what),
                         fmt::format("Fix: write `{}`", literal));
    };
    const bool prefixed = text.size() > 1 && (text[1] == 'x' || text[1] == 'b');
    if ((lower == "f" || suffix == "f32") && (floating || !prefixed))
        return write(": a float without one is f32", real);
    if ((lower == "d" || lower == "lf") && (floating || !prefixed)) return write("", real + "f64");
    if (lower == "h" && (floating || !prefixed)) return write("", real + "f16");
    if (suffix[0] == '_')
        return malformed("`_` is allowed only between two digits", "Fix: remove this `_`");
    if (!floating) {
        if (suffix == "i" || suffix == "i32")
            return write(": a whole number without one is i32", body);
        if (lower == "u" || suffix == "u32") return write("", body + "u");
        if (lower == "l" || lower == "ll") return write("", body + "i64");
        if (lower == "ul" || lower == "ull" || lower == "lu" || lower == "llu")
            return write("", body + "u64");
    }
    return malformed(fmt::format("{} is not a number's suffix", shown),
                     "Fix: the suffixes are `u`, `i64`, `u64`, `f16` and `f64`");
}

std::uint64_t integer(const std::string& digits, unsigned base, bool& fits) {
    std::uint64_t value = 0;
    for (const char c : digits) {
        const unsigned digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
        if (value > (~std::uint64_t(0) - digit) / base) {
            fits = false;
            return ~std::uint64_t(0);
        }
        value = value * base + digit;
    }
    return value;
}

}  // namespace

Number scan_number(std::string_view text) {
    const bool hex = text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X";
    const bool bin = text.substr(0, 2) == "0b" || text.substr(0, 2) == "0B";
    const auto is_digit = hex ? hexadecimal : bin ? binary : decimal;
    std::string_view rest = text;
    if (hex || bin) {
        if (text[1] == 'X' || text[1] == 'B')
            return malformed("the prefix of a number is in lower case",
                             hex ? "Fix: write `0x`" : "Fix: write `0b`");
        rest.remove_prefix(2);
    }
    Number out;
    const Number misplaced =
        malformed("`_` is allowed only between two digits", "Fix: remove the `_`");
    if (!take_digits(rest, is_digit, out.digits)) return misplaced;
    if (out.digits.empty())
        return malformed(hex ? "`0x` without hexadecimal digits" : "`0b` without binary digits",
                         hex ? "Fix: write digits 0 to 9 and a to f after `0x`"
                             : "Fix: write digits 0 and 1 after `0b`");
    if (bin && !rest.empty() && decimal(rest[0]))
        return malformed(fmt::format("`{}` is not a binary digit", rest[0]),
                         "Fix: use 0 and 1 only, or write a decimal number");

    bool point = false;
    if (!bin && !rest.empty() && rest[0] == '.') {
        point = true;
        out.digits += '.';
        rest.remove_prefix(1);
        const std::size_t before = out.digits.size();
        if (!take_digits(rest, is_digit, out.digits)) return misplaced;
        if (out.digits.size() == before)
            return malformed("a float has digits on both sides of its point",
                             "Fix: write a digit after the point");
    }
    bool exponent = false;
    const char mark = rest.empty() ? '\0' : static_cast<char>(rest[0] | 0x20);
    if ((hex && mark == 'p') || (!hex && !bin && mark == 'e')) {
        exponent = true;
        out.digits += mark;
        rest.remove_prefix(1);
        if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
            if (rest[0] == '-') out.digits += '-';
            rest.remove_prefix(1);
        }
        const std::size_t before = out.digits.size();
        if (!take_digits(rest, decimal, out.digits)) return misplaced;
        if (out.digits.size() == before)
            return malformed("the exponent has no digits",
                             fmt::format("Fix: write digits after `{}`", mark));
    }
    const bool floating = point || exponent;
    if (hex && point && !exponent)
        return malformed("a hexadecimal float needs an exponent",
                         "Fix: add `p0` (a power of two) after the digits");
    if (floating) out.type = kF32;
    if (!rest.empty()) {
        if (!known_suffix(rest, out.type)) return bad_suffix(text, rest, floating);
        out.suffixed = true;
        if (floating != out.type.floating()) {
            const std::string suffix(rest);
            if (floating)
                return malformed(fmt::format("`{}` is an integer suffix on a float", suffix),
                                 "Fix: leave the point and exponent out, or the suffix");
            return malformed(
                fmt::format("`{}` is a float suffix on an integer", suffix),
                fmt::format("Fix: write the float with a point, as in `1.0{}`", suffix));
        }
    }
    if (floating) {
        out.form = hex ? Number::Form::Hex : Number::Form::Decimal;
    } else {
        out.magnitude = integer(out.digits, hex ? 16 : bin ? 2 : 10, out.fits);
    }
    return out;
}

}  // namespace wye::ir
