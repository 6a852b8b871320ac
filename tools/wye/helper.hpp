// SPDX-License-Identifier: Apache-2.0
//
// Helper programs, as in git: `wye fuzz` runs `wye-fuzz`, `wye quirks --audit` runs `wye-quirks`,
// and `wye conform` runs two. A package may leave them out.
#pragma once

#include <string>
#include <vector>

#include "exit_code.hpp"

namespace wye::tool {

// The path of the helper `wye-NAME`. Searches $WYE_LIBEXEC if that is set, else the folder of this
// program (in a build tree it has links to the helpers) and its package's libexec folder.
// MISSING_DEPENDENCY: it is not there; NOT_TRUSTED: this process has raised privileges.
[[nodiscard]] Result<std::string> find_helper(const char* name);

// Replaces this process by the helper `wye-NAME` with these arguments. Returns only if it finds no
// helper, with the exit code of the error that it wrote.
[[nodiscard]] ExitCode become_helper(const char* name, std::vector<std::string> arguments);

}  // namespace wye::tool
