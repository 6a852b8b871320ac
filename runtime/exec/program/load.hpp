// SPDX-License-Identifier: Apache-2.0
//
// Loads a program from text or wire form: resolves its files, validates, encodes. Free-threaded.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "exec/program/loaded_program.hpp"
#include "wye/sdk/result.hpp"

namespace wye::exec {

// Returns the bytes of a file that a `variant` clause names.
using Resolve = std::function<Result<std::vector<std::byte>>(std::string_view name)>;

// Errors: INVALID_TEXT, INVALID_WIRE, INVALID_PROGRAM, LIMIT_EXCEEDED. The message has every
// diagnostic of the program with its position, on several lines.
[[nodiscard]] Result<ProgramRef> load_text(std::string_view text, std::string_view name,
                                           const Resolve& resolve);
[[nodiscard]] Result<ProgramRef> load_wire(std::span<const std::byte> wire, std::string_view name);

}  // namespace wye::exec
