// SPDX-License-Identifier: Apache-2.0
//
// Maps a line number of lowered C, such as one in a compiler's message, to a position in the
// program. For that, lowers the program again with positions. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "lower/lower.hpp"

namespace wye::lower {

// The position ("9:12") of the statement that `line` of `code` was made from. Empty if the format
// is not C, the line has no position, or `code` is not the result of these arguments.
[[nodiscard]] std::string place_of_line(const ir::Program& program, std::string_view format,
                                        const TargetFacts& facts, const Options& options,
                                        std::string_view code, std::size_t line);

}  // namespace wye::lower
