// SPDX-License-Identifier: Apache-2.0
//
// Literals of the text form: reads them exactly and prints the shortest form. Independent of the
// locale. Pure; thread-safe. A `problem` is a sentence for a diagnostic.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wye/sdk/program.hpp"

namespace wye::ir {

// A number as written. It is converted later, since its range depends on its use and a sign may
// precede it.
struct Number {
    enum class Form : std::uint8_t { Integer, Decimal, Hex };
    Form form = Form::Integer;
    Type type = kI32;  // from the suffix; i32 or f32 without a suffix
    bool suffixed = false;
    bool fits = true;             // for integers: whether the number is below 2^64
    std::uint64_t magnitude = 0;  // for integers
    std::string digits;           // for floats: without `_`, prefix and suffix
    std::string problem;          // not empty if the number is malformed
    std::string fix;
};
[[nodiscard]] Number scan_number(std::string_view text);

struct LiteralValue {
    Type type;
    std::uint64_t bits = 0;
    std::string problem;  // not empty if the number is out of the type's range
    std::string fix;
};
[[nodiscard]] LiteralValue literal_value(const Number& number, bool negative);

// Returns the text of a literal of a scalar value type. Reading it gives the same bits, except that
// every NaN prints as the canonical one.
[[nodiscard]] std::string literal_text(Type type, std::uint64_t bits);

// Returns the value of an integer literal's bits, sign-extended from its type. Meaningful for
// integers only.
[[nodiscard]] std::int64_t signed_value(Type type, std::uint64_t bits);

[[nodiscard]] std::uint64_t canonical_nan(Type type);
[[nodiscard]] bool is_nan(Type type, std::uint64_t bits);
[[nodiscard]] std::uint64_t infinity_bits(Type type, bool negative);

}  // namespace wye::ir
