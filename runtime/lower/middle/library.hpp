// SPDX-License-Identifier: Apache-2.0
//
// The library of emulations: functions, written in the language, for operations that some devices
// do not compute exactly. The functions use integers where floats are not exact. An artifact
// contains only the functions that it calls. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "wye/sdk/program.hpp"

namespace wye::lower::middle {

// The library as a valid program with an empty main, in static storage, and as text.
[[nodiscard]] const ir::Program& emulations();
[[nodiscard]] std::string emulations_text();
// Returns the index of a function, which must exist.
[[nodiscard]] std::uint32_t emulation_index(std::string_view name);

}  // namespace wye::lower::middle
