// SPDX-License-Identifier: Apache-2.0
//
// Where the command's own data goes. Drivers and plugins may print to standard output; a verb that
// enters them moves its output away first, so that a document on it stays whole. One thread.
#pragma once

#include <cstdio>
#include <string>

namespace wye::tool {

// Standard output; after keep_output, a stream of its own.
[[nodiscard]] std::FILE* output() noexcept;

// Call before a plugin is opened: whatever this process prints afterwards by descriptor 1 goes to
// standard error. If there are no descriptors left, nothing is moved.
void keep_output() noexcept;

// The path of a file for output: a name of standard output means that of output().
[[nodiscard]] std::string output_path(const std::string& path);

}  // namespace wye::tool
