// SPDX-License-Identifier: Apache-2.0
//
// Reads bytes that a plugin points to, with size limits, and fails instead of crashing at unmapped
// memory. Texts are escaped (wye/sdk/printable.hpp). Pure apart from reading; free-threaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wye/abi.h"
#include "wye/sdk/printable.hpp"
#include "wye/sdk/result.hpp"

namespace wye::registry {

using sdk::one_line;
using sdk::several_lines;

// Whether memory that a plugin points to is known to be mapped, as that of a built-in plugin is. A
// read of other memory costs a system call for each text.
enum class Memory : std::uint8_t { unknown, mapped };

// Copies bytes. Returns false if some at `from` are unmapped; `to` is then unspecified.
[[nodiscard]] bool read_memory(void* to, const void* from, std::size_t size,
                               Memory memory = Memory::unknown) noexcept;

// Reads a text, and escapes it to one line. More than `limit` bytes, or unreadable memory, is the
// error PLUGIN_FAULT, which names `what`.
[[nodiscard]] Result<std::string> read_text(wye_string text, std::uint64_t limit,
                                            std::string_view what, Memory memory = Memory::unknown);
// Reads bytes, unchanged. Errors as for `read_text`.
[[nodiscard]] Result<std::vector<std::byte>> read_bytes(wye_bytes bytes, std::uint64_t limit,
                                                        std::string_view what);

}  // namespace wye::registry
