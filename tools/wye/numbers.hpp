// SPDX-License-Identifier: Apache-2.0
//
// Parses numbers in arguments: the whole text must be decimal digits, within a range. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wye/sdk/result.hpp"

namespace wye::tool {

// Parses a number from 0 to `most`. INVALID_ARGUMENT states the flag, the text and the range.
[[nodiscard]] Result<std::uint64_t> parse_number(std::string_view flag, std::string_view text,
                                                 std::uint64_t most);

}  // namespace wye::tool
