// SPDX-License-Identifier: Apache-2.0
//
// Helpers for texts that people write: trimming blanks, and cutting at separators. The parts are
// views of the text. Also looks up the names of enumerators. Pure; free-threaded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace wye::sdk {

// The text without blanks, tabs and line ends at both ends.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r\n";
    const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
    return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

// Returns the part before the first separator, or all of `text`, and removes the part and the
// separator from `text`.
[[nodiscard]] constexpr std::string_view cut(std::string_view& text, std::string_view separator) {
    const std::string_view part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(part.size() + separator.size(), text.size()));
    return part;
}

// The name of an enumerator; "unknown" for other values. `names`: of all enumerators, in order.
template <typename Enum, std::size_t kCount>
[[nodiscard]] constexpr std::string_view name_in(const std::string_view (&names)[kCount],
                                                 Enum value) noexcept {
    const auto at = static_cast<std::size_t>(value);
    return at < kCount ? names[at] : "unknown";
}

// All parts of a text between separators. A separator at the end is not followed by an empty part.
[[nodiscard]] inline std::vector<std::string_view> split(std::string_view text,
                                                         std::string_view separator) {
    std::vector<std::string_view> out;
    while (!text.empty()) out.push_back(cut(text, separator));
    return out;
}

}  // namespace wye::sdk
