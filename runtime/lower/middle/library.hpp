// SPDX-License-Identifier: Apache-2.0
//
// Operations that some devices do not compute exactly, as functions written in the language, in
// integers where floats are not exact. An artifact gets only the functions that it calls. Pure;
// thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "wye/sdk/program.hpp"

namespace wye::lower::middle {

// A valid program with an empty main, and its text. WYE_STATIC.
[[nodiscard]] const ir::Program& emulations();
[[nodiscard]] std::string_view emulations_text();
// The index of a function, which must exist.
[[nodiscard]] std::uint32_t emulation_index(std::string_view name);

}  // namespace wye::lower::middle
