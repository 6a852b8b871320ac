// SPDX-License-Identifier: Apache-2.0
//
// Which build of this library runs: the linker's build id, hex. Whatever changes what programs are
// lowered to changes it. Empty where the linker wrote none. Pure; thread-safe.
#pragma once

#include <string>

namespace wye::exec {

[[nodiscard]] std::string build_id();

}  // namespace wye::exec
