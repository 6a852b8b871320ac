// SPDX-License-Identifier: Apache-2.0
//
// The exit codes of `wye`, and the exit code of each error. Documented in README.md and wye(1).
#pragma once

#include "wye/sdk/result.hpp"

namespace wye::tool {

enum ExitCode : int {
    kOk = 0,
    kFailed = 1,    // the work failed: a trap, a driver error, an output that cannot be written;
                    // or two reports differ, or `info doctor` has advice
    kUsage = 2,     // bad arguments or bad input: flags, program, selector, files, sizes, values
    kNoDevice = 3,  // no usable device for the request
    kUnmet = 4,     // --require was given, and no device satisfies it
    kStrict = 5,    // --strict was given, and a plugin failed
};

[[nodiscard]] ExitCode exit_code_of(const Error& error);

// Writes "wye: error: ..." to stderr and returns the exit code of the error.
[[nodiscard]] ExitCode fail(const Error& error);

// Call once, at the start. If memory runs out in noexcept code, such as a comparison of names,
// libraries call std::terminate. After this call, the command then writes a message and exits with
// kFailed, instead of being ended by a signal.
void expect_no_memory() noexcept;

}  // namespace wye::tool
