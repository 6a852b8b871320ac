// SPDX-License-Identifier: Apache-2.0
//
// Verbs that are programs of their own, as in git: `wye fuzz` becomes `wye-fuzz`, which a package
// may leave out.
#pragma once

#include "exit_code.hpp"

namespace wye::tool {

// Replaces this process by the helper `wye-NAME`, with argv[2] and what follows as its arguments.
// Looks in $WYE_LIBEXEC if that is set, else beside this program and in its package's libexec
// folder. Returns only when there is none, with the exit code of the error that it wrote.
[[nodiscard]] ExitCode become_helper(const char* name, char** argv);

}  // namespace wye::tool
