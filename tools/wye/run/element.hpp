// SPDX-License-Identifier: Apache-2.0
//
// The elements of buffers as text: numbers to bytes and back. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wye::tool {

enum class Numbers : std::uint8_t { Signed, Unsigned, Float };

// A type of numbers.
struct Scalar {
    std::string_view name;  // "f32"
    std::uint32_t bytes;
    Numbers numbers;
    std::uint32_t digits;    // of a float: the bits of its significand, with the hidden bit
    std::string_view numpy;  // "f4"; empty: NumPy has no such type
};

// An element of a buffer: `lanes` numbers of one type. `scalar` is never null.
struct Element {
    const Scalar* scalar;
    std::uint32_t lanes;

    [[nodiscard]] std::size_t bytes() const { return std::size_t{scalar->bytes} * lanes; }
};

// The element of a type of the language, such as "f32x4".
[[nodiscard]] Element element_of(std::string_view type);

// Parses a number: decimal, for integers also 0x and hexadecimal digits. Returns its bits; nullopt:
// the text is no number, or the type has no such value. Floats are rounded to the nearest value.
[[nodiscard]] std::optional<std::uint64_t> bits_of(const Scalar& scalar, std::string_view text);

// bits_of_float: the bits of the nearest float; nullopt: the value is too large. bits_of_count: the
// bits of a whole number, for any type.
[[nodiscard]] std::optional<std::uint64_t> bits_of_float(const Scalar& scalar, double value);
[[nodiscard]] std::optional<std::uint64_t> bits_of_count(const Scalar& scalar, std::uint64_t value);

// A text without the letters that C and other languages write behind a number, as in "1.0f".
[[nodiscard]] std::string_view without_suffix(std::string_view text);

// A text about the numbers that bits_of takes, as in "0 to 255, or 0x and hexadecimal digits".
[[nodiscard]] std::string range_of(const Scalar& scalar);

// The exact value of a float.
[[nodiscard]] double float_of(const Scalar& scalar, const std::byte* at);

// The shortest text that bits_of turns into the same bits; "nan" for every NaN.
[[nodiscard]] std::string text_of(const Scalar& scalar, const std::byte* at);

}  // namespace wye::tool
