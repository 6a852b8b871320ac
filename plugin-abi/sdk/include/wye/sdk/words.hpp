// SPDX-License-Identifier: Apache-2.0
//
// Parts of texts that people write: without the blanks around them, and between separators. The
// parts are views of the text. Also the names of enumerators. Pure; free-threaded.
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

// Returns the part before the first separator, or all of `text`, and removes it with the separator.
[[nodiscard]] constexpr std::string_view cut(std::string_view& text, std::string_view separator) {
    const std::string_view part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(part.size() + separator.size(), text.size()));
    return part;
}

// The name of an enumerator, from those of all enumerators in order; "unknown" for other values.
template <typename Enum, std::size_t kCount>
[[nodiscard]] constexpr std::string_view name_in(const std::string_view (&names)[kCount],
                                                 Enum value) noexcept {
    const auto at = static_cast<std::size_t>(value);
    return at < kCount ? names[at] : "unknown";
}

// All parts. Nothing follows a separator at the end.
[[nodiscard]] inline std::vector<std::string_view> split(std::string_view text,
                                                         std::string_view separator) {
    std::vector<std::string_view> out;
    while (!text.empty()) out.push_back(cut(text, separator));
    return out;
}

}  // namespace wye::sdk
