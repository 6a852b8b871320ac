// SPDX-License-Identifier: Apache-2.0
//
// Times from a program's text to its first result, in new processes: the hand-written kernel, Wye's
// lowered text given to the compiler directly, Wye with an empty cache, and Wye with the cache of
// the previous process.
#pragma once

#include <string>

#include "wye/sdk/result.hpp"

namespace wye::bench {

// Prints the table of one device. `only`: as on the command line.
[[nodiscard]] Result<void> compile_table(const std::string& selector, const std::string& only);

// In the child: one way ("raw", "lowered" or "wye") for each program; a line with its name and
// nanoseconds each.
[[nodiscard]] Result<void> compile_child(const std::string& selector, const std::string& way,
                                         const std::string& only);

}  // namespace wye::bench
