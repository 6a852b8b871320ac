// SPDX-License-Identifier: Apache-2.0
//
// Measures the time from a program's text to its first result, in new processes. Compares the
// hand-written kernel, Wye's lowered text compiled by the driver directly, Wye with an empty cache,
// and Wye with the cache that an earlier process has filled.
#pragma once

#include <string>

#include "wye/sdk/result.hpp"

namespace wye::bench {

// Prints the table of one device, for the programs whose name has the text `only`.
[[nodiscard]] Result<void> compile_table(const std::string& selector, const std::string& only);

// Called in the child process: times each program in one `way` ("raw", "lowered" or "wye"), and
// prints a line with the program's name and its nanoseconds.
[[nodiscard]] Result<void> compile_child(const std::string& selector, const std::string& way,
                                         const std::string& only);

}  // namespace wye::bench
