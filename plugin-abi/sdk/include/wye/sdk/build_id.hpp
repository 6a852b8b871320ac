// SPDX-License-Identifier: Apache-2.0
//
// The linker's build id of a loaded library or program; it changes with the code. Thread-safe.
#pragma once

#include <string>

namespace wye::sdk {

// The build id, in hex, of the object whose code or data has the address `inside`. Empty if the
// linker wrote none.
[[nodiscard]] std::string build_id(const void* inside);

}  // namespace wye::sdk
