// SPDX-License-Identifier: Apache-2.0
#include "numbers.hpp"

#include <charconv>

#include <fmt/format.h>

namespace wye::tool {

Result<std::uint64_t> parse_number(std::string_view flag, std::string_view text,
                                   std::uint64_t most) {
    std::uint64_t out = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (status == std::errc{} && end == text.data() + text.size() && out <= most) return out;
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("`{} {}` is not a whole number from 0 to {}", flag, text, most),
                 fmt::format("Fix: write {} NUMBER, in decimal digits", flag), std::string(flag));
}

}  // namespace wye::tool
