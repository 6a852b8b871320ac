// SPDX-License-Identifier: Apache-2.0
//
// The stream of the command's own output. Drivers and plugins may print to standard output. Before
// a verb opens drivers, it moves its own output to another descriptor, so that a document is not
// mixed with the drivers' output. Used by one thread.
#pragma once

#include <cstdio>
#include <string>

namespace wye::tool {

// Standard output; after keep_output, a separate stream to the same file.
[[nodiscard]] std::FILE* output() noexcept;

// Call before a plugin is opened. All later output to descriptor 1 then goes to standard error. If
// no descriptors are left, changes nothing.
void keep_output() noexcept;

// Returns the path of an output file. A path that names standard output (/dev/stdout) is replaced
// by one that names output().
[[nodiscard]] std::string output_path(const std::string& path);

}  // namespace wye::tool
