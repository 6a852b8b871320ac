// SPDX-License-Identifier: Apache-2.0
//
// ASCII letters, digits and blanks, the same in every locale. Pure; free-threaded.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace wye::sdk::ascii {

[[nodiscard]] constexpr bool is_space(char c) noexcept { return c == ' ' || c == '\t'; }
[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr char small(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
[[nodiscard]] constexpr bool is_letter(char c) noexcept {
    return small(c) >= 'a' && small(c) <= 'z';
}

[[nodiscard]] inline std::string small(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = small(c);
    return out;
}
[[nodiscard]] constexpr bool equal_letters(char a, char b) noexcept { return small(a) == small(b); }
[[nodiscard]] inline bool same_but_case(std::string_view a, std::string_view b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), equal_letters);
}
// Whether `text` contains `part`, without regard to case; every text contains the empty part.
[[nodiscard]] inline bool has_but_case(std::string_view text, std::string_view part) noexcept {
    return part.empty() || std::search(text.begin(), text.end(), part.begin(), part.end(),
                                       equal_letters) != text.end();
}

}  // namespace wye::sdk::ascii
