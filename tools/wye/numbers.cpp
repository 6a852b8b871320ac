// SPDX-License-Identifier: Apache-2.0
#include "numbers.hpp"

#include <fmt/format.h>

#include "wye/sdk/numbers.hpp"

namespace wye::tool {

Result<std::uint64_t> parse_number(std::string_view flag, std::string_view text,
                                   std::uint64_t most) {
    if (const auto out = sdk::parse_number<std::uint64_t>(text); out && *out <= most) return *out;
    return Error(Code::INVALID_ARGUMENT,
                 fmt::format("`{} {}` is not a whole number from 0 to {}", flag, text, most),
                 fmt::format("Fix: write {} NUMBER, in decimal digits", flag), std::string(flag));
}

}  // namespace wye::tool
