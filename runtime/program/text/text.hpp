// SPDX-License-Identifier: Apache-2.0
//
// The text form (`.wye`): parser and printer. parse(print(p)) is p, and the printer has one layout.
// Pure; thread-safe; opens no files (a variant's `file` clause stays unresolved).
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

// Syntax, names and literals; expressions get their types (assign_types), but rules beyond the
// grammar (roles, uniformity, limits over the whole program) are the validator's.
// Recovers at statement and declaration ends, so that one mistake gives one diagnostic.
[[nodiscard]] ParseResult parse(std::string_view text);

// Any valid program. Unnamed locals print as v0, v1, ... (made unique). Names that came with the
// program are kept where they are legal and unambiguous.
[[nodiscard]] std::string print(const Program& program);

}  // namespace wye::ir
