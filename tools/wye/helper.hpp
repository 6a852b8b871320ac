// SPDX-License-Identifier: Apache-2.0
//
// Helper programs, as in git: `wye fuzz` runs `wye-fuzz`, `wye quirks --audit` runs `wye-quirks`,
// and `wye conform` runs two. A package may leave the helpers out.
#pragma once

#include <string>
#include <vector>

#include "exit_code.hpp"

namespace wye::tool {

// The path of the helper `wye-NAME`. Searches $WYE_LIBEXEC if that is set, else the folder of this
// program (which has links to the helpers in a build tree), then the libexec folder of the package.
// MISSING_DEPENDENCY: the helper is not there. NOT_TRUSTED: this process has raised privileges.
[[nodiscard]] Result<std::string> find_helper(const char* name);

// Replaces this process by the helper `wye-NAME` with these arguments. Returns only if the helper
// cannot be started: writes the error, and returns its exit code.
[[nodiscard]] ExitCode become_helper(const char* name, std::vector<std::string> arguments);

}  // namespace wye::tool
