// SPDX-License-Identifier: Apache-2.0
//
// The text form (`.wye`): parser and printer. parse(print(p)) equals p; the printer has one fixed
// layout. Pure; thread-safe; opens no files (a variant's `file` clause stays unresolved).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "program/diagnostic.hpp"
#include "wye/sdk/program.hpp"

namespace wye::ir {

struct ParseResult {
    Program program;                      // meaningful only when there is no error
    std::vector<Diagnostic> diagnostics;  // syntax and name errors, at most kMaxDiagnostics
    [[nodiscard]] bool ok() const;
};

// Parses syntax, names and literals, and derives the types of expressions (assign_types); the
// validator checks the other rules (roles, uniformity, limits of the whole program). Recovers at
// the ends of statements and declarations, so that one mistake gives one diagnostic.
[[nodiscard]] ParseResult parse(std::string_view text);

// Prints any valid program. Unnamed locals print as v0, v1, ... (made unique). The program's names
// are kept if they are legal and unambiguous.
[[nodiscard]] std::string print(const Program& program);

}  // namespace wye::ir
