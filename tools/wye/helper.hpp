// SPDX-License-Identifier: Apache-2.0
//
// Verbs that are separate programs, as in git: `wye fuzz` runs `wye-fuzz`, and `wye quirks --audit`
// runs `wye-quirks`. A package may omit them.
#pragma once

#include <string>
#include <vector>

#include "exit_code.hpp"

namespace wye::tool {

// Replaces this process by the helper `wye-NAME`, with these arguments. Searches $WYE_LIBEXEC if it
// is set, else this program's folder (which has links to the helpers in a build tree) and the
// libexec folder of its package. Returns only if it finds no helper; it has then written the error,
// and returns its exit code.
[[nodiscard]] ExitCode become_helper(const char* name, std::vector<std::string> arguments);

}  // namespace wye::tool
