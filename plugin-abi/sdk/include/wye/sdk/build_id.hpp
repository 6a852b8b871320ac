// SPDX-License-Identifier: Apache-2.0
//
// Which build of a library or program runs: the linker's build id, which changes with its code.
// Thread-safe.
#pragma once

#include <string>

namespace wye::sdk {

// Of the object that has `inside`, an address in its code or data: hex. Empty where the linker
// wrote none.
[[nodiscard]] std::string build_id(const void* inside);

}  // namespace wye::sdk
