// SPDX-License-Identifier: Apache-2.0
//
// Verbs that are separate programs, as in git: `wye fuzz` runs `wye-fuzz`, which a package may
// leave out.
#pragma once

#include "exit_code.hpp"

namespace wye::tool {

// Replaces this process by the helper `wye-NAME`, with argv[2] and later as its arguments. Searches
// $WYE_LIBEXEC if that is set, else the folder of this program and its package's libexec folder.
// Returns only if it finds no helper, with the exit code of the error that it wrote.
[[nodiscard]] ExitCode become_helper(const char* name, char** argv);

}  // namespace wye::tool
