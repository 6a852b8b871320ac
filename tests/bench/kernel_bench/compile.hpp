// SPDX-License-Identifier: Apache-2.0
//
// The way from a program's text to its first result, in fresh processes: the hand-written kernel,
// Wye's own lowered text given to the compiler directly, Wye with an empty cache, Wye with the
// cache that the process before left.
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
