// SPDX-License-Identifier: Apache-2.0
//
// From a line of lowered C back to the program: for compilers' complaints. Nothing is kept for it:
// the program is lowered a second time, with places. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "lower/lower.hpp"

namespace wye::lower {

// "9:12", where the statement stands that `line` of `code` was made from. Empty: the format is no C
// dialect, nothing is known of the line, or `code` is not what these arguments are lowered to.
[[nodiscard]] std::string place_of_line(const ir::Program& program, std::string_view format,
                                        const TargetFacts& facts, const Options& options,
                                        std::string_view code, std::size_t line);

}  // namespace wye::lower
