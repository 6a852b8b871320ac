// SPDX-License-Identifier: Apache-2.0
//
// Text for people: colour, width, and escaping of untrusted bytes. Pure, except for style_of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wye/sdk/result.hpp"

namespace wye::tool {

constexpr std::size_t kNoWrap = SIZE_MAX;

struct Style {
    bool colour = false;
    std::size_t width = kNoWrap;  // columns
};

// The style for standard output. `when`: auto, always or never. With auto, a terminal gets colours
// unless TERM is "dumb". A CLICOLOR_FORCE that is neither empty nor 0 gives colours without a
// terminal, too. A NO_COLOR that is not empty forbids colours. The width is $COLUMNS, else the
// terminal's; lines for files and pipes are not broken.
[[nodiscard]] Result<Style> style_of(const std::string& when);

enum class Ink : std::uint8_t { heading, name, good, bad, faint };
[[nodiscard]] std::string ink(const Style& style, Ink what, std::string_view text);

// Like sdk::one_line, but line ends and tabs become blanks.
[[nodiscard]] std::string clean(std::string_view text);

// The width of a text in columns, one per character.
[[nodiscard]] std::size_t columns(std::string_view text);

// Breaks a text into lines. The first line begins with `first`, the other lines with blanks of the
// same width. Breaks only at blanks, so that a path can be copied. `text` must have no colours, and
// is cleaned.
[[nodiscard]] std::string wrapped(const Style& style, std::string_view first,
                                  std::string_view text);

// Pads a text with blanks to `width` columns. The text may have colours.
[[nodiscard]] std::string padded(std::string_view text, std::size_t width);

[[nodiscard]] std::string size_text(std::uint64_t bytes);        // "23 GiB"
[[nodiscard]] std::string age_text(std::uint64_t milliseconds);  // "3 min"
[[nodiscard]] std::string time_text(std::uint64_t unix_ns);      // "2026-11-24T16:16:14Z"
[[nodiscard]] std::string count_text(std::size_t count, std::string_view one);  // "2 plugins"

}  // namespace wye::tool
