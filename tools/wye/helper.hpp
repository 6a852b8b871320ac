// SPDX-License-Identifier: Apache-2.0
//
// Verbs that are separate programs, as in git: `wye fuzz` runs `wye-fuzz`, and `wye quirks --audit`
// runs `wye-quirks`. A package may leave them out.
#pragma once

#include <string>
#include <vector>

#include "exit_code.hpp"

namespace wye::tool {

// Replaces this process by the helper `wye-NAME` with these arguments. Searches $WYE_LIBEXEC if
// that is set, else the folder of this program (in a build tree it has links to the helpers) and
// its package's libexec folder. Returns only if it finds no helper, with the exit code of the error
// that it wrote.
[[nodiscard]] ExitCode become_helper(const char* name, std::vector<std::string> arguments);

}  // namespace wye::tool
