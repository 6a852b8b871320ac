// SPDX-License-Identifier: Apache-2.0
//
// Parses numbers and literals of declarations and statements.
#include <fmt/core.h>

#include "program/text/parser.hpp"

namespace wye::ir::detail {

bool Parser::num(std::string_view what, std::uint64_t& out) {
    const std::string subject(what);
    if (token_.is(Tok::Name)) {
        const Symbol* symbol = find(token_.text);
        if (symbol == nullptr) {
            unknown(token_, "constant");
            take();
            return true;
        }
        if (symbol->kind != Symbol::Kind::Constant) {
            error(token_.place,
                  fmt::format("{} is a number or an integer constant, but {} is {}", subject,
                              describe(token_), article(*symbol)),
                  "Fix: write the number, or declare it with `const`");
            take();
            return true;
        }
        const LiteralValue& value = constants_[symbol->index];
        if (!value.type.integer() || signed_value(value.type, value.bits) < 0) {
            const bool huge = value.type == kU64;
            if (!huge) {
                error(token_.place,
                      fmt::format("{} is a whole number, but {} is {}", subject, describe(token_),
                                  literal_text(value.type, value.bits)),
                      "Fix: use an integer constant that is not negative");
                take();
                return true;
            }
        }
        out = value.bits;
        take();
        return true;
    }
    if (!token_.is(Tok::Number)) {
        unexpected(fmt::format("{} (a number or an integer constant)", subject),
                   token_.is(Op::SUB) ? "Fix: write a number that is not negative"
                                      : "Fix: write a number such as 64");
        return false;
    }
    const Number number = scan_number(token_.text);
    if (!number.problem.empty()) {
        error(token_.place, number.problem, number.fix);
    } else if (number.form != Number::Form::Integer || number.suffixed) {
        error(token_.place,
              fmt::format("{} is a whole number without suffix, not {}", subject, describe(token_)),
              "Fix: write the digits alone");
    } else if (!number.fits) {
        error(token_.place, fmt::format("{} is 2^64 or more", describe(token_)),
              "Fix: write a smaller number");
    } else {
        out = number.magnitude;
    }
    take();
    return true;
}

bool Parser::num32(std::string_view what, std::uint64_t least, std::uint32_t& out) {
    const Token at = token_;
    const bool broken = errors_.full();
    std::uint64_t value = least;
    if (!num(what, value)) return false;
    if (!broken && (value < least || value > 0xffffffffULL)) {
        error(at.place, fmt::format("{} is {}, outside of {} to 4294967295", what, value, least),
              "Fix: write a number in that range");
        value = least;
    }
    out = static_cast<std::uint32_t>(value);
    return true;
}

bool Parser::at_literal() const {
    return token_.is(Tok::Number) || token_.is(Tok::Constant) || token_.is(Op::SUB);
}

// Parses [ "-" ] number, or a word such as `true` or `inf_f32`. Reports anything else and returns
// an empty result.
std::optional<LiteralValue> Parser::literal() {
    const Token at = token_;
    const bool negative = token_.is(Op::SUB);
    if (negative) take();
    const Token digits = token_;
    if (token_.is(Tok::Number)) {
        const Number number = scan_number(token_.text);
        LiteralValue value = literal_value(number, negative);
        if (!number.problem.empty())
            error(token_.place, number.problem, number.fix);
        else if (!value.problem.empty())
            error(at.place, value.problem, value.fix);
        take();
        if (token_.is(Tok::Dot) && token_.place == digits.end) {
            foreign_point(digits);
            value.type = {};
        }
        return value;
    }
    if (!token_.is(Tok::Constant)) {
        unexpected("a literal", "Fix: write a literal such as `1`, `2u`, `0.5` or `true`");
        return std::nullopt;
    }
    LiteralValue value;
    const auto word = static_cast<ConstantWord>(token_.code);
    switch (word) {
        case ConstantWord::True:
        case ConstantWord::False:
            value = {kBool, word == ConstantWord::True ? 1U : 0U, {}, {}};
            break;
        case ConstantWord::InfF16:
        case ConstantWord::InfF32:
        case ConstantWord::InfF64:
            value.type = word == ConstantWord::InfF16   ? kF16
                         : word == ConstantWord::InfF32 ? kF32
                                                        : kF64;
            value.bits = infinity_bits(value.type, negative);
            take();
            return value;
        default:
            value.type = word == ConstantWord::NanF16   ? kF16
                         : word == ConstantWord::NanF32 ? kF32
                                                        : kF64;
            value.bits = canonical_nan(value.type);
            break;
    }
    if (negative)
        error(at.place, fmt::format("`-` does not belong to {}", describe(token_)),
              "Fix: leave the `-` out");
    take();
    return value;
}

}  // namespace wye::ir::detail
