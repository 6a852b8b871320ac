// SPDX-License-Identifier: Apache-2.0
//
// Markdown as lines of text for people, on standard output: paragraphs, lists, blocks of code, and
// lists of terms ("- `-d`, `--device` SELECTOR: what it does").
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace wye::tool {

[[nodiscard]] std::string in_capitals(std::string_view text);

// The width of a page in columns: the terminal's width within limits, or 80 without a terminal.
[[nodiscard]] std::size_t page_width();

// Writes `text` with line breaks between words, but never inside `code`. `first` begins the first
// line; the other lines are indented by the width of `first`.
void print_wrapped(std::string_view text, std::string_view first, std::size_t width);

// Writes lines of Markdown that have no heading, indented by two columns.
void print_blocks(std::span<const std::string_view> lines, std::size_t width);

// Writes a page in the style of a manual page: its title and first paragraph as NAME, headings in
// capitals.
void print_page(std::string_view text, std::size_t width);

}  // namespace wye::tool
