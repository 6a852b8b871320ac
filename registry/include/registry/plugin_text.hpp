// SPDX-License-Identifier: Apache-2.0
//
// Bytes that a plugin points to, read with care: sizes have limits, and memory that is not there is
// a fault instead of a crash. And text for people: what a plugin says can neither forge a line of
// the report or the log, nor steer a terminal. Pure but for reading; free-threaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wye/abi.h"
#include "wye/sdk/result.hpp"

namespace wye::registry {

// Control characters, direction marks and what is not UTF-8 become visible: "\n", "\x1b".
[[nodiscard]] std::string one_line(std::string_view text);
// As one_line, but line ends and tabs stay: for texts of several lines, such as compilers' logs.
[[nodiscard]] std::string several_lines(std::string_view text);

// False: some of the bytes at `from` are not in memory, and `to` is unspecified.
[[nodiscard]] bool read_memory(void* to, const void* from, std::size_t size) noexcept;

// A text on one line. PLUGIN_FAULT, naming `what`, for more than `limit` bytes, or memory that
// cannot be read.
[[nodiscard]] Result<std::string> read_text(wye_string text, std::uint64_t limit,
                                            std::string_view what);
// Bytes as they are.
[[nodiscard]] Result<std::vector<std::byte>> read_bytes(wye_bytes bytes, std::uint64_t limit,
                                                        std::string_view what);

}  // namespace wye::registry
