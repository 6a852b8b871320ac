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
    std::uint32_t digits;    // of a float: the bits of its significand, with the hidden one
    std::string_view numpy;  // "f4"; empty: NumPy has no such type
};

// `scalar` never is null.
struct Element {
    const Scalar* scalar;
    std::uint32_t lanes;

    [[nodiscard]] std::size_t bytes() const { return std::size_t{scalar->bytes} * lanes; }
};

// The element of a type such as "f32x4", which the language has.
[[nodiscard]] Element element_of(std::string_view type);

// The bits of a number: decimal, for integers also 0x and hexadecimal digits. Nothing if the text
// is no number, or the type has no such value. Floats are rounded to the nearest.
[[nodiscard]] std::optional<std::uint64_t> bits_of(const Scalar& scalar, std::string_view text);

// bits_of_float: the bits of the nearest float; nothing if it is too large. bits_of_count: the bits
// of a whole number, for any type.
[[nodiscard]] std::optional<std::uint64_t> bits_of_float(const Scalar& scalar, double value);
[[nodiscard]] std::optional<std::uint64_t> bits_of_count(const Scalar& scalar, std::uint64_t value);

// A text without the letters that C and other languages write behind a number, as in "1.0f".
[[nodiscard]] std::string_view without_suffix(std::string_view text);

// What bits_of takes, as in "0 to 255, or 0x and hexadecimal digits".
[[nodiscard]] std::string range_of(const Scalar& scalar);

// A float's value; exact.
[[nodiscard]] double float_of(const Scalar& scalar, const std::byte* at);

// The shortest text that bits_of turns into the same bits; "nan" for every NaN.
[[nodiscard]] std::string text_of(const Scalar& scalar, const std::byte* at);

}  // namespace wye::tool
