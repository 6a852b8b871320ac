// SPDX-License-Identifier: Apache-2.0
//
// Loads a program file, text or wire form, into a context. Files of `variant` clauses are searched
// in the program's folder. Errors are the library's, with the path.
#pragma once

#include <string>

#include "wye/wye.hpp"

namespace wye::tool {

[[nodiscard]] Result<Program> load_program(const Context& context, const std::string& path);

// Splits "name=value". INVALID_ARGUMENT, with the flag, if there is no name or no `=`.
struct Assignment {
    std::string name;
    std::string value;
};
[[nodiscard]] Result<Assignment> parse_assignment(const std::string& text, const char* flag);

}  // namespace wye::tool
