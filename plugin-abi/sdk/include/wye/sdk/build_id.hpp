// SPDX-License-Identifier: Apache-2.0
//
// Reads the linker's build id of a loaded library or program. The build id changes with the code.
// Thread-safe.
#pragma once

#include <string>

namespace wye::sdk {

// Returns the build id, in hex, of the library or program that contains the address `inside`. Empty
// if the linker wrote none.
[[nodiscard]] std::string build_id(const void* inside);

}  // namespace wye::sdk
