// SPDX-License-Identifier: Apache-2.0
//
// The exit codes of `wye` and how an error maps to one. Documented in README.md and wye(1).
#pragma once

#include "wye/sdk/result.hpp"

namespace wye::tool {

enum ExitCode : int {
    kOk = 0,
    kFailed = 1,    // the work failed: a trap, a driver error, an output that cannot be written
    kUsage = 2,     // bad arguments or bad input: flags, program, selector, files, sizes, values
    kNoDevice = 3,  // no usable device for what was asked
    kStrict = 5,    // --strict, and some plugin failed
};

[[nodiscard]] ExitCode exit_code_of(const Error& error);

// Writes "wye: error: ..." to stderr and returns the exit code of `error`.
[[nodiscard]] ExitCode fail(const Error& error);

// Once, at the start. Libraries give up where what must not fail needs memory (a comparison of
// names, the end of a document): without memory the command then ends with kFailed and a sentence,
// not by a signal.
void expect_no_memory() noexcept;

}  // namespace wye::tool
