// SPDX-License-Identifier: Apache-2.0
//
// Operations that not every device does exactly, as functions written in the language itself, in
// integers where nothing else can be trusted. An artifact gets only the functions that it calls.
// Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "wye/sdk/program.hpp"

namespace wye::lower::middle {

// A valid program with an empty main, and its text. WYE_STATIC.
[[nodiscard]] const ir::Program& emulations();
[[nodiscard]] std::string_view emulations_text();
// Of one of its functions, which is there.
[[nodiscard]] std::uint32_t emulation_index(std::string_view name);

}  // namespace wye::lower::middle
