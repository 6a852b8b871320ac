// SPDX-License-Identifier: Apache-2.0
//
// Text for a terminal or a log. Control characters, direction marks and bytes that are not UTF-8
// are escaped ("\x1b"), so that text from a user, a file or a plugin can neither control a
// terminal nor forge a line. Only this file decides what is escaped. Pure; free-threaded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace wye::sdk {

// The length of the valid UTF-8 sequence at the beginning of `text`; 0 if there is none.
inline std::size_t utf8_sequence(std::string_view text, std::uint32_t& code) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    std::size_t size = 1;
    code = first;
    if (first >= 0x80) {
        if (first < 0xc2 || first > 0xf4) return 0;
        size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
        code = first & (0xffU >> (size + 1));
    }
    if (text.size() < size) return 0;
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) return 0;
        code = code << 6U | (byte(i) & 0x3fU);
    }
    constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return code < kLeast[size] || surrogate || code > 0x10ffff ? 0 : size;
}

// False for characters that control a terminal, end a line, or change the direction of writing.
inline bool is_visible(std::uint32_t code) {
    const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    const bool ends_line = code == 0x2028 || code == 0x2029;
    const bool turns = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return !control && !ends_line && !turns;
}

namespace detail {

inline void add_escaped(std::string& out, unsigned char byte) {
    switch (byte) {
        case '\n':
            out += "\\n";
            return;
        case '\t':
            out += "\\t";
            return;
        case '\r':
            out += "\\r";
            return;
        default:
            char text[8];
            std::snprintf(text, sizeof text, "\\x%02x", byte);
            out += text;
    }
}

// Escapes a text. `keeps(rest)`: whether the line end or tab at the beginning of `rest` stays.
template <typename Keeps>
[[gnu::cold]] std::string printable(std::string_view text, Keeps&& keeps) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        std::uint32_t code = 0;
        const std::size_t size = utf8_sequence(text, code);
        const bool blank = text[0] == '\n' || text[0] == '\t';
        if (size != 0 && (is_visible(code) || (blank && keeps(text)))) {
            out += text.substr(0, size);
        } else {
            for (const char byte : text.substr(0, std::max<std::size_t>(size, 1)))
                add_escaped(out, static_cast<unsigned char>(byte));
        }
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return out;
}

}  // namespace detail

[[nodiscard]] inline std::string one_line(std::string_view text) {
    return detail::printable(text, [](std::string_view) { return false; });
}
// As `one_line`, but keeps line ends and tabs, for texts such as compiler logs.
[[nodiscard]] inline std::string several_lines(std::string_view text) {
    return detail::printable(text, [](std::string_view) { return true; });
}
// As `one_line`, but keeps line ends before two blanks and at the end of the text. So all lines but
// the first are indented, and none of them can pass for a line of another text.
[[nodiscard]] inline std::string indented_lines(std::string_view text) {
    return detail::printable(
        text, [](std::string_view rest) { return rest == "\n" || rest.starts_with("\n  "); });
}
// Writes `?` for each character that `one_line` escapes, so that each character takes one column
// and a caret can stand below it. Keeps tabs.
[[nodiscard]] inline std::string one_column_each(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        std::uint32_t code = 0;
        const std::size_t size = utf8_sequence(text, code);
        const bool kept = size != 0 && (is_visible(code) || text[0] == '\t');
        out += kept ? text.substr(0, size) : "?";
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return out;
}

}  // namespace wye::sdk
