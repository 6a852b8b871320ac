// SPDX-License-Identifier: Apache-2.0
//
// Loads a program file, text or wire form, into a context. Files of `variant` clauses are searched
// in the program's folder. The errors are those of the library, with the path.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "command/files.hpp"
#include "wye/wye.hpp"

namespace wye::tool {

struct ProgramFile {
    std::string path;
    std::vector<std::byte> bytes;
};

// Reads the file of a program. First applies check_files to all files of the command: `others`, the
// program, and the files that its `variant` clauses name. Call read_program before a context is
// made.
[[nodiscard]] Result<ProgramFile> read_program(const std::string& path,
                                               std::vector<FileUse> others = {});

[[nodiscard]] Result<Program> load_program(const Context& context, const ProgramFile& file);

// Splits "name=value". INVALID_ARGUMENT, which names the flag, if there is no name or no `=`.
struct Assignment {
    std::string name;
    std::string value;
};
[[nodiscard]] Result<Assignment> parse_assignment(const std::string& text, const char* flag);

}  // namespace wye::tool
